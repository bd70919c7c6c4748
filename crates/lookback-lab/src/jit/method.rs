//! A Java method's name, the same whatever place of the compilers' log it was read from and in whatever run.
//!
//! The constraint that shaped it: the log writes a method in two ways, a task's with a descriptor and a callee's as
//! numbers of types, and numbers hidden classes anew in each run. So all are brought to class, name and descriptor as a
//! class file has them, without what differs from run to run.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A method.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Method {
    /// Its class as in a class file: `java/lang/String`. Hidden classes and lambdas of one kind share a name.
    pub class: String,
    /// Its name: `charAt`, `<init>`.
    pub name: String,
    /// Its descriptor: `(I)C`.
    pub descriptor: String,
}

impl Method {
    /// From a task's attribute: `java.lang.String charAt (I)C`.
    pub(super) fn of_task(text: &str) -> Option<Method> {
        let mut words = text.split(' ');
        let (class, name, descriptor) = (words.next()?, words.next()?, words.next()?);
        Some(Method { class: class_name(class), name: name.into(), descriptor: stable(descriptor) })
    }

    /// From a callee's types by their names, as `int`, `java.lang.String` and `[B`.
    pub(super) fn of_types(class: &str, name: &str, arguments: &[&str], result: &str) -> Method {
        let mut descriptor = String::from("(");
        for argument in arguments {
            descriptor += &type_descriptor(argument);
        }
        descriptor.push(')');
        descriptor += &type_descriptor(result);
        Method { class: class_name(class), name: name.into(), descriptor }
    }
}

impl fmt::Display for Method {
    /// `java.lang.String.charAt(I)C`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}{}", self.class.replace('/', "."), self.name, self.descriptor)
    }
}

fn class_name(name: &str) -> String {
    stable(&name.replace('.', "/"))
}

fn type_descriptor(name: &str) -> String {
    let primitive = match name {
        "void" => "V",
        "boolean" => "Z",
        "byte" => "B",
        "char" => "C",
        "short" => "S",
        "int" => "I",
        "long" => "J",
        "float" => "F",
        "double" => "D",
        _ => "",
    };
    if !primitive.is_empty() {
        return primitive.into();
    }
    let name = class_name(name);
    if name.starts_with('[') { name } else { format!("L{name};") }
}

/// Without the addresses and numbers by which hidden classes, lambdas, proxies and accessors are told apart in a run:
/// `java/lang/invoke/LambdaForm$MH/0x00007f0e8c` and `Shop$$Lambda$14/0x0000`.
fn stable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(address) = rest.strip_prefix("/0x").or_else(|| rest.strip_prefix("+0x")) {
            rest = address.trim_start_matches(|c: char| c.is_ascii_hexdigit());
            continue;
        }
        let numbered = ["$$Lambda$", "$Proxy", "GeneratedMethodAccessor", "GeneratedConstructorAccessor"];
        if let Some(prefix) = numbered.iter().find(|prefix| rest.starts_with(**prefix)) {
            out += prefix.trim_end_matches("$");
            rest = rest[prefix.len()..].trim_start_matches(|c: char| c.is_ascii_digit());
            continue;
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_and_a_callee_name_the_same_method_the_same() {
        let task = Method::of_task("java.lang.StringLatin1 indexOf ([BI[BII)I").expect("a method");
        assert_eq!(
            task,
            Method::of_types("java.lang.StringLatin1", "indexOf", &["[B", "int", "[B", "int", "int"], "int")
        );
        assert_eq!(task.to_string(), "java.lang.StringLatin1.indexOf([BI[BII)I");
        let other =
            Method::of_task("java.util.Map get (Ljava/lang/Object;)[Ljava/lang/Object;").expect("a method");
        assert_eq!(
            other,
            Method::of_types("java.util.Map", "get", &["java.lang.Object"], "[Ljava.lang.Object;")
        );
        assert_eq!(Method::of_task("Main main"), None);
    }

    #[test]
    fn hidden_classes_have_one_name_in_all_runs() {
        let cases = [
            ("java.lang.invoke.LambdaForm$MH/0x00007f0e8c01", "java/lang/invoke/LambdaForm$MH"),
            ("shop.Cart$$Lambda$14/0x0000000801", "shop/Cart$$Lambda"),
            ("shop.Cart$$Lambda/0x0000000801", "shop/Cart$$Lambda"),
            ("jdk.proxy2.$Proxy17", "jdk/proxy2/$Proxy"),
            ("a.Plain$1", "a/Plain$1"),
        ];
        for (name, expected) in cases {
            assert_eq!(class_name(name), expected);
        }
    }
}
