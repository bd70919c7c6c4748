//! A small assembler: class files that no compiler at hand writes any more.
//!
//! Constraint: only what the tests need: one class, methods with raw code
//! bytes, any version. Must not check anything: some tests want invalid classes.

/// A class file under construction.
pub struct ClassBuilder {
    major: u16,
    minor: u16,
    access: u16,
    pool: Vec<u8>,
    pool_count: u16,
    this: u16,
    super_class: u16,
    methods: Vec<u8>,
    method_count: u16,
}

/// The code of a method.
#[derive(Default, Clone)]
pub struct Code {
    pub max_stack: u16,
    pub max_locals: u16,
    pub bytes: Vec<u8>,
    /// Start, end, handler, catch type.
    pub handlers: Vec<[u16; 4]>,
    /// Content of a StackMapTable.
    pub frames: Option<Vec<u8>>,
    /// Other attributes: name and content.
    pub attributes: Vec<(&'static str, Vec<u8>)>,
}

impl ClassBuilder {
    /// A public class below `java/lang/Object`.
    pub fn new(name: &str, major: u16, minor: u16) -> Self {
        let mut builder = ClassBuilder {
            major,
            minor,
            access: 0x21,
            pool: Vec::new(),
            pool_count: 1,
            this: 0,
            super_class: 0,
            methods: Vec::new(),
            method_count: 0,
        };
        builder.this = builder.class(name);
        builder.super_class = builder.class("java/lang/Object");
        builder
    }

    fn entry(&mut self, bytes: &[u8]) -> u16 {
        self.pool.extend_from_slice(bytes);
        self.pool_count += 1;
        self.pool_count - 1
    }

    /// A Utf8 entry.
    pub fn utf8(&mut self, text: &str) -> u16 {
        let mut bytes = vec![1];
        bytes.extend((text.len() as u16).to_be_bytes());
        bytes.extend(text.as_bytes());
        self.entry(&bytes)
    }

    /// A Class entry.
    pub fn class(&mut self, name: &str) -> u16 {
        let [a, b] = self.utf8(name).to_be_bytes();
        self.entry(&[7, a, b])
    }

    /// An Integer entry.
    pub fn int(&mut self, value: i32) -> u16 {
        let [a, b, c, d] = value.to_be_bytes();
        self.entry(&[3, a, b, c, d])
    }

    /// A Methodref entry.
    pub fn method_ref(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        let [c0, c1] = self.class(class).to_be_bytes();
        let [n0, n1] = self.utf8(name).to_be_bytes();
        let [d0, d1] = self.utf8(descriptor).to_be_bytes();
        let [p0, p1] = self.entry(&[12, n0, n1, d0, d1]).to_be_bytes();
        self.entry(&[10, c0, c1, p0, p1])
    }

    /// Fills the pool with Integer entries until it has `count` entries, index 0 included.
    pub fn fill_pool(&mut self, count: u16) {
        while self.pool_count < count {
            self.int(i32::from(self.pool_count));
        }
    }

    /// How many entries the pool has, index 0 included.
    pub fn pool_count(&self) -> u16 {
        self.pool_count
    }

    /// A method without code.
    pub fn bare_method(&mut self, access: u16, name: &str, descriptor: &str) {
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        for field in [access, name, descriptor, 0] {
            self.methods.extend(field.to_be_bytes());
        }
        self.method_count += 1;
    }

    /// A method with code.
    pub fn method(&mut self, access: u16, name: &str, descriptor: &str, code: &Code) {
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        let code_name = self.utf8("Code");
        let mut content = Vec::new();
        content.extend(code.max_stack.to_be_bytes());
        content.extend(code.max_locals.to_be_bytes());
        content.extend((code.bytes.len() as u32).to_be_bytes());
        content.extend(&code.bytes);
        content.extend((code.handlers.len() as u16).to_be_bytes());
        content.extend(code.handlers.iter().flatten().flat_map(|v| v.to_be_bytes()));
        let frames = code.frames.iter().map(|f| ("StackMapTable", f.clone()));
        let attributes: Vec<_> = frames.chain(code.attributes.iter().cloned()).collect();
        content.extend((attributes.len() as u16).to_be_bytes());
        for (name, bytes) in attributes {
            content.extend(self.utf8(name).to_be_bytes());
            content.extend((bytes.len() as u32).to_be_bytes());
            content.extend(bytes);
        }
        for field in [access, name, descriptor, 1, code_name] {
            self.methods.extend(field.to_be_bytes());
        }
        self.methods.extend((content.len() as u32).to_be_bytes());
        self.methods.extend(content);
        self.method_count += 1;
    }

    /// The default constructor.
    pub fn default_constructor(&mut self) {
        let [a, b] = self.method_ref("java/lang/Object", "<init>", "()V").to_be_bytes();
        let code = Code { max_stack: 1, max_locals: 1, bytes: vec![42, 183, a, b, 177], ..Code::default() };
        self.method(1, "<init>", "()V", &code);
    }

    /// The class file.
    pub fn build(self) -> Vec<u8> {
        let mut out = vec![0xca, 0xfe, 0xba, 0xbe];
        for field in [self.minor, self.major, self.pool_count] {
            out.extend(field.to_be_bytes());
        }
        out.extend(self.pool);
        for field in [self.access, self.this, self.super_class, 0, 0, self.method_count] {
            out.extend(field.to_be_bytes());
        }
        out.extend(self.methods);
        out.extend([0, 0]);
        out
    }
}
