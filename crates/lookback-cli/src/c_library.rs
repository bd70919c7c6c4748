//! Which C library a program is built for: the agent fits one of them only.
//!
//! The constraint that shaped it: a JVM that is handed a library of the other one ends at once, with a message that names
//! neither. So it is looked at before, in the few bytes of the program's own file that name its loader. What is no ELF file
//! of 64 bits, or is cut, says nothing, and nothing is refused for it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// In the name of musl's loader: `/lib/ld-musl-x86_64.so.1`.
pub(crate) const MUSL_LOADER: &str = "/ld-musl-";

/// Whether the program was built for musl, as Alpine's are.
pub(crate) fn is_musl(program: &Path) -> bool {
    loader(program).is_ok_and(|name| name.contains(MUSL_LOADER))
}

/// Where the shell would find a program.
pub(crate) fn in_path(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return Some(program.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file())
}

/// The loader that an ELF file of this machine names.
fn loader(program: &Path) -> io::Result<String> {
    /// Offsets in the header of a file of 64 bits: where the program headers are, and how many.
    const HEADERS_AT: usize = 32;
    const HEADERS: usize = 56;
    /// Bytes of a program header, and offsets in it.
    const HEADER_BYTES: usize = 56;
    const FILE_OFFSET: usize = 8;
    const FILE_BYTES: usize = 32;
    /// The kind of program header that names the loader, and the most bytes that its name may have.
    const INTERPRETER: [u8; 4] = 3_u32.to_le_bytes();
    const MOST_BYTES: u64 = 4096;
    let number =
        |bytes: &[u8], at: usize| bytes[at..].first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight));
    let mut file = File::open(program)?;
    let mut head = [0; 64];
    file.read_exact(&mut head)?;
    // Of 64 bits, little-endian.
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return Err(io::ErrorKind::InvalidData.into());
    }
    file.seek(SeekFrom::Start(number(&head, HEADERS_AT)))?;
    let headers = u16::from_le_bytes([head[HEADERS], head[HEADERS + 1]]);
    for _ in 0..headers {
        let mut header = [0; HEADER_BYTES];
        file.read_exact(&mut header)?;
        if header.starts_with(&INTERPRETER) {
            let mut name = Vec::new();
            file.seek(SeekFrom::Start(number(&header, FILE_OFFSET)))?;
            file.take(number(&header, FILE_BYTES).min(MOST_BYTES)).read_to_end(&mut name)?;
            return Ok(String::from_utf8_lossy(&name).into_owned());
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file of nothing but a header and the name of its loader.
    fn elf(loader: &str) -> Vec<u8> {
        let mut file = b"\x7fELF\x02\x01".to_vec();
        file.resize(64 + 56, 0);
        file[32] = 64;
        file[56] = 1;
        file[64] = 3;
        file[64 + 8] = 120;
        file[64 + 32] = loader.len() as u8;
        file.extend_from_slice(loader.as_bytes());
        file
    }

    #[test]
    fn a_musl_program_is_told_by_its_loader() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("java");
        std::fs::write(&path, elf("/lib/ld-musl-x86_64.so.1\0")).unwrap();
        assert!(is_musl(&path));
        std::fs::write(&path, elf("/lib64/ld-linux-x86-64.so.2\0")).unwrap();
        assert!(!is_musl(&path));
        assert_eq!(loader(&path).unwrap(), "/lib64/ld-linux-x86-64.so.2\0");
        assert!(!is_musl(&std::env::current_exe().unwrap()) || cfg!(target_env = "musl"));
    }

    #[test]
    fn any_other_bytes_say_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("java");
        let whole = elf("/lib/ld-musl-x86_64.so.1");
        for cut in 0..64 + 56 {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert!(!is_musl(&path), "{cut}");
        }
        let mut far = whole.clone();
        far[32..40].fill(0xff);
        std::fs::write(&path, far).unwrap();
        assert!(!is_musl(&path) && !is_musl(dir.path()) && !is_musl(&dir.path().join("none")));
    }
}
