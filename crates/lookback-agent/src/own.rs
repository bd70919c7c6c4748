//! Which classes are the program's own, and not a library's: those that share the first two names of their package with the main
//! class, or with a method that the user watches.
//!
//! The constraint that shaped it: of a program in a jar only the jar says what its main class is, and the VM reads jars once it is
//! up. No class of the program is loaded before that.

use crate::java::{clear, jni, units};
use jni_sys::{JNIEnv, jobject, jvalue};
use lookback_options::Options;
use std::ffi::CString;
use std::sync::OnceLock;

/// What is the program's own.
#[derive(Default)]
pub(crate) struct Own {
    found: OnceLock<Found>,
}

#[derive(Default)]
struct Found {
    /// Beginnings of names: `com.acme.`; empty for classes in no package.
    packages: Vec<String>,
    /// Whether no class beyond these is watched.
    names_all_watched: bool,
}

impl Own {
    /// Finds out, once the VM is up. `program` is a main class, `module/class` or the path of a jar.
    pub(crate) fn find(&self, env: *mut JNIEnv, program: &str, options: &Options) {
        self.found.get_or_init(|| {
            let main = main_class(env, program).map(|main| package(&main));
            let rules = options.slow.iter().map(|rule| rule.pattern.to_string());
            let precise = options.precise.0.iter().map(ToString::to_string);
            let watched: Vec<_> = rules.chain(precise).map(|pattern| watched_package(&pattern)).collect();
            let names_all_watched = watched.iter().all(Option::is_some);
            let mut packages: Vec<String> = main.into_iter().chain(watched.into_iter().flatten()).collect();
            packages.sort_unstable();
            packages.dedup();
            Found { packages, names_all_watched }
        });
    }

    /// Whether this class, `com.acme.Api`, is the program's own.
    pub(crate) fn has(&self, class: &str) -> bool {
        let is_in = |package: &String| match package.is_empty() {
            true => !class.contains('.'),
            false => class.starts_with(package.as_str()),
        };
        self.found.get().is_some_and(|found| found.packages.iter().any(is_in))
    }

    /// Whether every method that the user watches is in a class of these.
    pub(crate) fn names_all_watched(&self) -> bool {
        self.found.get().is_some_and(|found| found.names_all_watched)
    }
}

/// The first two names of the package of a class, `com.acme.`; empty when it is in none.
fn package(class: &str) -> String {
    let package = class.rfind('.').map_or("", |end| &class[..end]);
    package
        .split('.')
        .take(2)
        .filter(|name| !name.is_empty())
        .fold(String::new(), |all, name| all + name + ".")
}

/// The same of a pattern, as far as it names a package.
fn watched_package(pattern: &str) -> Option<String> {
    let pattern = pattern.replace("::", ".").replace('/', ".");
    let literal = pattern.split('*').next().unwrap_or_default();
    let package = package(literal);
    (!package.is_empty() && !literal.starts_with(['@', '!'])).then_some(package)
}

/// The class that runs first. Of Spring Boot's jars it is not the one that starts it.
fn main_class(env: *mut JNIEnv, program: &str) -> Option<String> {
    if std::path::Path::new(program).is_file() {
        return manifest(env, program, &["Start-Class", "Main-Class"]);
    }
    Some(program.rsplit('/').next().unwrap_or(program).to_owned())
}

/// What the manifest of a jar says under the first of these names that it has.
fn manifest(env: *mut JNIEnv, jar: &str, names: &[&str]) -> Option<String> {
    let frame = jni!(env, PushLocalFrame, 16) == 0;
    let found = frame.then(|| attribute(env, jar, names)).flatten();
    clear(env);
    if frame {
        jni!(env, PopLocalFrame, std::ptr::null_mut());
    }
    found
}

fn attribute(env: *mut JNIEnv, jar: &str, names: &[&str]) -> Option<String> {
    let some = |r: jobject| {
        clear(env);
        (!r.is_null()).then_some(r)
    };
    let string = |text: &str| some(jni!(env, NewStringUTF, CString::new(text).ok()?.as_ptr()));
    let call = |object: jobject, class: &str, method: &str, signature: &str, argument: Option<jobject>| {
        let words = [class, method, signature].map(|text| CString::new(text).unwrap_or_default());
        let class = some(jni!(env, FindClass, words[0].as_ptr()))?;
        let method = jni!(env, GetMethodID, class, words[1].as_ptr(), words[2].as_ptr());
        clear(env);
        let arguments = [jvalue { l: argument.unwrap_or(std::ptr::null_mut()) }];
        if method.is_null() {
            None
        } else if object.is_null() {
            some(jni!(env, NewObjectA, class, method, arguments.as_ptr()))
        } else if signature.ends_with('V') {
            jni!(env, CallVoidMethodA, object, method, arguments.as_ptr());
            some(std::ptr::null_mut())
        } else {
            some(jni!(env, CallObjectMethodA, object, method, arguments.as_ptr()))
        }
    };
    const FILE: &str = "java/util/jar/JarFile";
    let file = call(std::ptr::null_mut(), FILE, "<init>", "(Ljava/lang/String;)V", Some(string(jar)?))?;
    let manifest = call(file, FILE, "getManifest", "()Ljava/util/jar/Manifest;", None);
    let attributes = manifest.and_then(|m| {
        call(m, "java/util/jar/Manifest", "getMainAttributes", "()Ljava/util/jar/Attributes;", None)
    });
    let value = |attributes, name| {
        const GET: &str = "(Ljava/lang/String;)Ljava/lang/String;";
        let value = call(attributes, "java/util/jar/Attributes", "getValue", GET, Some(string(name)?))?;
        let text = String::from_utf16_lossy(&units(env, value, 1 << 12)).trim().to_owned();
        (!text.is_empty()).then_some(text)
    };
    let found = attributes.and_then(|attributes| names.iter().find_map(|name| value(attributes, name)));
    call(file, FILE, "close", "()V", None);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(packages: &[&str]) -> Own {
        let packages = packages.iter().map(|p| (*p).to_owned()).collect();
        Own { found: OnceLock::from(Found { packages, names_all_watched: true }) }
    }

    #[test]
    fn what_shares_two_names_of_its_package_is_the_programs_own() {
        let all = ["com.acme.shop.Main", "com.acme.Main", "acme.Main", "Main"].map(package);
        assert_eq!(all, ["com.acme.", "com.acme.", "acme.", ""]);
        let acme = own(&["com.acme."]);
        assert!(acme.has("com.acme.db.Orders") && acme.has("com.acme.Main"));
        assert!(!acme.has("com.acmeshop.Main") && !acme.has("org.h2.Driver") && !acme.has("Main"));
        assert!(own(&[""]).has("Main") && !own(&[""]).has("com.acme.Main") && !own(&[]).has("Main"));
        assert!(!Own::default().has("Main"), "nothing is known yet");
    }

    #[test]
    fn a_pattern_names_a_package_as_far_as_its_first_star() {
        let of = |pattern| watched_package(pattern);
        let acme = Some("com.acme.".to_owned());
        assert_eq!(of("com.acme.api.*.handle*"), acme);
        assert_eq!(of("com/acme/Api::find"), acme);
        assert_eq!(of("com.acme.**"), acme);
        assert_eq!(of("com.**"), Some("com.".to_owned()));
        assert_eq!(
            [of("**.Service.handle"), of("@javax.inject.Singleton"), of("*Api.find")],
            [None, None, None]
        );
    }
}
