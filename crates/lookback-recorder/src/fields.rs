//! [`Field`] and [`Fields`]: Rust values as the fields of an event.
//!
//! The constraint: an event's size must be known when the program is compiled, because then the ring copies it by
//! plain stores. So a set of fields is a tuple, and each length has an implementation. The declared types come
//! from the tuple, so that they cannot differ from what is recorded.

use crate::Name;
use lookback_format::definitions::FieldType;
use lookback_ring::{Dropped, Ring};
use std::time::Duration;

/// A value that fits a word of an event.
pub trait Field: Copy {
    /// How readers show it.
    const TYPE: FieldType;

    /// The word.
    fn to_word(self) -> u64;
}

macro_rules! field {
    ($($from:ty, $kind:ident, $value:ident => $word:expr;)*) => { $(
        impl Field for $from {
            const TYPE: FieldType = FieldType::$kind;

            #[inline(always)]
            fn to_word(self) -> u64 {
                let $value = self;
                $word
            }
        }
    )* };
}

field! {
    u8, U64, v => u64::from(v);
    u16, U64, v => u64::from(v);
    u32, U64, v => u64::from(v);
    u64, U64, v => v;
    usize, U64, v => v as u64;
    i8, I64, v => i64::from(v) as u64;
    i16, I64, v => i64::from(v) as u64;
    i32, I64, v => i64::from(v) as u64;
    i64, I64, v => v as u64;
    isize, I64, v => v as i64 as u64;
    f32, F64, v => f64::from(v).to_bits();
    f64, F64, v => v.to_bits();
    bool, Bool, v => u64::from(v);
    Duration, Duration, v => v.as_secs().wrapping_mul(1_000_000_000).wrapping_add(u64::from(v.subsec_nanos()));
    Name, Name, v => u64::from(v.0.0);
}

/// The fields of one type of events: a [`Field`], or a tuple of up to eight.
pub trait Fields: Copy + sealed::Sealed {
    /// Their types.
    const TYPES: &'static [FieldType];

    /// Their names: an array with one for each.
    type Names<'a>: AsRef<[&'a str]>;

    /// Writes an event of these fields.
    #[doc(hidden)]
    fn write(self, ring: &Ring, kind: u16, head: [u64; 2]) -> Result<(), Dropped>;

    /// Writes an event of these fields and what follows them.
    #[doc(hidden)]
    fn write_with(self, ring: &Ring, kind: u16, head: [u64; 2], tail: &[u8]) -> Result<(), Dropped>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! fields {
    ($count:literal, <$($name:ident),+> $of:ty, |$this:ident| $($value:expr),*) => {
        fields!(@ $count, [<$($name: Field),+>], [$($name),+], $of, |$this| $($value),*);
    };
    (0, $of:ty, |$this:ident|) => { fields!(@ 0, [], [], $of, |$this|); };
    (1, $of:ty, |$this:ident| $value:expr) => { fields!(@ 1, [], [$of], $of, |$this| $value); };
    (@ $count:literal, [$($generics:tt)*], [$($kind:ty),*], $of:ty, |$this:ident| $($value:expr),*) => {
        impl $($generics)* sealed::Sealed for $of {}
        impl $($generics)* Fields for $of {
            const TYPES: &'static [FieldType] = &[$(<$kind as Field>::TYPE),*];
            type Names<'a> = [&'a str; $count];

            #[inline(always)]
            fn write(self, ring: &Ring, kind: u16, head: [u64; 2]) -> Result<(), Dropped> {
                let $this = self;
                ring.write_words(kind, [head[0], head[1], $($value.to_word()),*])
            }

            #[inline(always)]
            fn write_with(self, ring: &Ring, kind: u16, head: [u64; 2], tail: &[u8]) -> Result<(), Dropped> {
                let $this = self;
                ring.write_headed(kind, [head[0], head[1], $($value.to_word()),*], tail)
            }
        }
    };
}

fields!(0, (), |_this|);
fields!(1, u8, |v| v);
fields!(1, u16, |v| v);
fields!(1, u32, |v| v);
fields!(1, u64, |v| v);
fields!(1, usize, |v| v);
fields!(1, i8, |v| v);
fields!(1, i16, |v| v);
fields!(1, i32, |v| v);
fields!(1, i64, |v| v);
fields!(1, isize, |v| v);
fields!(1, f32, |v| v);
fields!(1, f64, |v| v);
fields!(1, bool, |v| v);
fields!(1, Duration, |v| v);
fields!(1, Name, |v| v);
fields!(1, <A> (A,), |t| t.0);
fields!(2, <A, B> (A, B), |t| t.0, t.1);
fields!(3, <A, B, C> (A, B, C), |t| t.0, t.1, t.2);
fields!(4, <A, B, C, D> (A, B, C, D), |t| t.0, t.1, t.2, t.3);
fields!(5, <A, B, C, D, E> (A, B, C, D, E), |t| t.0, t.1, t.2, t.3, t.4);
fields!(6, <A, B, C, D, E, F> (A, B, C, D, E, F), |t| t.0, t.1, t.2, t.3, t.4, t.5);
fields!(7, <A, B, C, D, E, F, G> (A, B, C, D, E, F, G), |t| t.0, t.1, t.2, t.3, t.4, t.5, t.6);
fields!(8, <A, B, C, D, E, F, G, H> (A, B, C, D, E, F, G, H), |t| t.0, t.1, t.2, t.3, t.4, t.5, t.6, t.7);

/// What follows the fields of an event: nothing, text, or bytes.
pub trait Tail {
    /// Its type, if there is any.
    const TYPE: Option<FieldType>;

    /// Its bytes.
    fn bytes(&self) -> &[u8];
}

impl Tail for () {
    const TYPE: Option<FieldType> = None;

    fn bytes(&self) -> &[u8] {
        &[]
    }
}

impl Tail for str {
    const TYPE: Option<FieldType> = Some(FieldType::Text);

    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Tail for [u8] {
    const TYPE: Option<FieldType> = Some(FieldType::Bytes);

    fn bytes(&self) -> &[u8] {
        self
    }
}
