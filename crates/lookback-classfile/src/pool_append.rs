//! The entries a rewritten class has beyond its own constant pool.
//!
//! Constraint: `constant_pool_count` is 16 bits wide, so the last usable index
//! is 65534; what does not fit is refused as a whole, and the method that
//! needed it stays as it was. Entries are made when first needed and shared
//! within the class. Must not reorder or reuse the class's own entries: its
//! bytes refer to them by index.

use crate::probe::{Point, TracePoints};

/// Most entries a pool may have, index 0 included.
const MAX_COUNT: u32 = 65535;

/// Bytes and indices of the appended entries; reused from class to class.
#[derive(Default)]
pub(crate) struct PoolAppend {
    bytes: Vec<u8>,
    /// The index the next entry gets.
    next: u32,
    class: Option<u16>,
    /// Descriptors and method entries by trace point.
    descriptors: [Option<u16>; Point::COUNT],
    names: [Option<u16>; Point::COUNT],
    methods: [Option<u16>; Point::COUNT],
    throwable: Option<u16>,
    stack_map_table: Option<u16>,
    last_int: Option<(i32, u16)>,
}

impl PoolAppend {
    /// Starts over for a class whose pool has `count` entries.
    pub(crate) fn reset(&mut self, count: u16) {
        self.bytes.clear();
        let bytes = std::mem::take(&mut self.bytes);
        *self = PoolAppend { bytes, next: u32::from(count.max(1)), ..PoolAppend::default() };
    }

    /// The entries' bytes, to stand right behind the class's own.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The `constant_pool_count` with the appended entries.
    pub(crate) fn count(&self) -> u16 {
        // `take` never lets `next` pass 65535.
        self.next as u16
    }

    fn take(&mut self) -> Option<u16> {
        if self.next >= MAX_COUNT {
            return None;
        }
        self.next += 1;
        Some((self.next - 1) as u16)
    }

    fn utf8(&mut self, text: &str) -> Option<u16> {
        let length = u16::try_from(text.len()).ok()?;
        let index = self.take()?;
        self.bytes.push(1);
        self.bytes.extend_from_slice(&length.to_be_bytes());
        self.bytes.extend_from_slice(text.as_bytes());
        Some(index)
    }

    fn pair(&mut self, tag: u8, a: u16, b: u16) -> Option<u16> {
        let index = self.take()?;
        let ([a0, a1], [b0, b1]) = (a.to_be_bytes(), b.to_be_bytes());
        self.bytes.extend_from_slice(&[tag, a0, a1, b0, b1]);
        Some(index)
    }

    fn class_of(&mut self, name: &str) -> Option<u16> {
        let [n0, n1] = self.utf8(name)?.to_be_bytes();
        let index = self.take()?;
        self.bytes.extend_from_slice(&[7, n0, n1]);
        Some(index)
    }

    /// An Integer entry for `ldc_w`.
    pub(crate) fn int(&mut self, value: i32) -> Option<u16> {
        match self.last_int {
            Some((v, index)) if v == value => return Some(index),
            _ => {}
        }
        let index = self.take()?;
        self.bytes.push(3);
        self.bytes.extend_from_slice(&value.to_be_bytes());
        self.last_int = Some((value, index));
        Some(index)
    }

    /// The method entry of a trace point.
    pub(crate) fn trace_point(&mut self, points: &TracePoints, point: Point) -> Option<u16> {
        if let Some(&Some(index)) = self.methods.get(point.index()) {
            return Some(index);
        }
        let class = match self.class {
            Some(class) => class,
            None => {
                let made = self.class_of(points.class)?;
                *self.class.insert(made)
            }
        };
        // Overloads share their name, other trace points their descriptor.
        let descriptor = match self.descriptors[point.descriptor_index()] {
            Some(descriptor) => descriptor,
            None => {
                let made = self.utf8(point.descriptor())?;
                *self.descriptors[point.descriptor_index()].insert(made)
            }
        };
        let name = match self.names[point.name_index()] {
            Some(name) => name,
            None => {
                let made = self.utf8(points.name(point))?;
                *self.names[point.name_index()].insert(made)
            }
        };
        let name_and_type = self.pair(12, name, descriptor)?;
        let method = self.pair(10, class, name_and_type)?;
        self.methods[point.index()] = Some(method);
        Some(method)
    }

    /// The Class entry of `java/lang/Throwable`.
    pub(crate) fn throwable(&mut self) -> Option<u16> {
        match self.throwable {
            Some(index) => Some(index),
            None => {
                self.throwable = self.class_of("java/lang/Throwable");
                self.throwable
            }
        }
    }

    /// The Utf8 entry `StackMapTable`.
    pub(crate) fn stack_map_table(&mut self) -> Option<u16> {
        match self.stack_map_table {
            Some(index) => Some(index),
            None => {
                self.stack_map_table = self.utf8("StackMapTable");
                self.stack_map_table
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{Kind, Value};

    #[test]
    fn entries_are_shared_and_counted() {
        let mut pool = PoolAppend::default();
        pool.reset(10);
        let points = TracePoints::in_class("T");
        let a = pool.trace_point(&points, Point::Enter(Kind::Plain));
        // Utf8 + Class, descriptor, name, NameAndType, Methodref.
        assert_eq!(a, Some(15));
        assert_eq!(pool.trace_point(&points, Point::Enter(Kind::Plain)), a);
        assert_eq!(pool.trace_point(&points, Point::Exit(Kind::Plain)), Some(18));
        assert_eq!(pool.int(70000), Some(19));
        assert_eq!(pool.int(70000), Some(19));
        // An overload shares the name: descriptor, NameAndType, Methodref.
        assert_eq!(pool.trace_point(&points, Point::ExitWith(Value::Long)), Some(22));
        assert_eq!(pool.count(), 23);
    }

    #[test]
    fn a_full_pool_refuses() {
        let mut pool = PoolAppend::default();
        pool.reset(65534);
        assert_eq!(pool.int(1), Some(65534));
        assert_eq!(pool.int(2), None);
        assert_eq!(pool.throwable(), None);
        assert_eq!(pool.count(), 65535);
    }
}
