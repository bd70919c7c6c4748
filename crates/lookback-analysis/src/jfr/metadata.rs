//! What a chunk says of its own layout: classes, their fields, and how each is written.
//!
//! The constraint that shaped it: numbers of classes differ from JDK to JDK and from run to run, so all is found by its name. A
//! class may hold itself in a damaged file, so what is read by this description is bounded by whoever reads.

use super::bytes::{Bytes, Read};
use std::borrow::Cow;
use std::collections::HashMap;

/// Elements of the description are nested so deeply at most: root, metadata, class, field, annotation.
const MOST_NESTED: usize = 16;

/// How a value without fields is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Primitive {
    /// So many bytes.
    Bytes(usize),
    Integer,
    Text,
}

impl Primitive {
    fn of(class: &str) -> Option<Primitive> {
        Some(match class {
            "boolean" | "byte" => Primitive::Bytes(1),
            "float" => Primitive::Bytes(4),
            "double" => Primitive::Bytes(8),
            "char" | "short" | "int" | "long" => Primitive::Integer,
            "java.lang.String" => Primitive::Text,
            _ => return None,
        })
    }
}

/// A class: of events, of constants, or of values within them.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) primitive: Option<Primitive>,
    pub(super) fields: Vec<Field>,
}

impl Class {
    /// Position of a field.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }
}

/// A field of a class.
#[derive(Debug)]
pub(super) struct Field {
    name: String,
    /// The number of its class.
    pub(super) class: u64,
    /// Whether it is the number of a constant.
    pub(super) is_constant: bool,
    pub(super) is_array: bool,
}

/// All classes of a chunk.
#[derive(Debug)]
pub(super) struct Metadata {
    classes: HashMap<u64, Class>,
}

impl Metadata {
    /// Reads what stands in an event of metadata behind its size and kind.
    pub(super) fn read(bytes: &mut Bytes<'_>) -> Read<Metadata> {
        // When, how long, the number of this description.
        for _ in 0..3 {
            bytes.number()?;
        }
        let n = bytes.count()?;
        let texts: Vec<Cow<'_, str>> = (0..n).map(|_| bytes.plain_text()).collect::<Read<_>>()?;
        let root = Element::read(bytes, &texts, 0)?;
        let mut classes = HashMap::new();
        let described = root.children.iter().filter(|e| e.name == "metadata").flat_map(|e| &e.children);
        for element in described.filter(|e| e.name == "class") {
            let (Some(id), Some(name)) = (element.number("id"), element.text("name")) else { continue };
            let fields =
                element.children.iter().filter(|e| e.name == "field").filter_map(Field::of).collect();
            classes.insert(id, Class { name: name.to_owned(), primitive: Primitive::of(name), fields });
        }
        Ok(Metadata { classes })
    }

    pub(super) fn class(&self, id: u64) -> Option<&Class> {
        self.classes.get(&id)
    }

    /// The number of the class with this name.
    pub(super) fn named(&self, name: &str) -> Option<u64> {
        self.classes.iter().find(|(_, class)| class.name == name).map(|(&id, _)| id)
    }
}

impl Field {
    fn of(element: &Element<'_>) -> Option<Field> {
        Some(Field {
            name: element.text("name")?.to_owned(),
            class: element.number("class")?,
            is_constant: element.text("constantPool") == Some("true"),
            is_array: element.number("dimension").is_some_and(|n| n > 0),
        })
    }
}

/// A node of the tree that describes the classes.
struct Element<'t> {
    name: &'t str,
    attributes: Vec<(&'t str, &'t str)>,
    children: Vec<Element<'t>>,
}

impl<'t> Element<'t> {
    fn read(bytes: &mut Bytes<'_>, texts: &'t [Cow<'_, str>], depth: usize) -> Read<Element<'t>> {
        if depth >= MOST_NESTED {
            return Err(bytes.wrong("the metadata is nested too deeply"));
        }
        let text = |bytes: &mut Bytes<'_>| {
            let begin = *bytes;
            let at = bytes.number()?;
            let text = usize::try_from(at).ok().and_then(|at| texts.get(at));
            text.map(|text| &**text).ok_or(begin.wrong("the metadata has no text with such a number"))
        };
        let name = text(bytes)?;
        let n = bytes.count()?;
        let attributes = (0..n).map(|_| Ok((text(bytes)?, text(bytes)?))).collect::<Read<_>>()?;
        let n = bytes.count()?;
        let children = (0..n).map(|_| Element::read(bytes, texts, depth + 1)).collect::<Read<_>>()?;
        Ok(Element { name, attributes, children })
    }

    fn text(&self, key: &str) -> Option<&'t str> {
        self.attributes.iter().find(|(k, _)| *k == key).map(|&(_, value)| value)
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.text(key)?.parse().ok()
    }
}
