//! A lock convoy in a web shop, recorded: one request holds the order book's lock through a slow fsync,
//! others queue up behind it.

use super::*;
use lookback_format::incident::Trigger;

pub(crate) const RUN: u32 = 1;
pub(crate) const PLACE: u32 = 2;
pub(crate) const APPEND: u32 = 3;
pub(crate) const FLUSH: u32 = 4;
pub(crate) const FORCE: u32 = 5;
pub(crate) const MONITOR: u32 = 6;
pub(crate) const QUOTE: u32 = 7;

pub(crate) fn symbols() -> Vec<Class> {
    classes(&[
        (RUN, "com.acme.web.Worker", "run", 30, Wait::None),
        (PLACE, "com.acme.shop.api.OrderApi", "place", 52, Wait::None),
        (APPEND, "com.acme.shop.orders.OrderBook", "append", 97, Wait::None),
        (FLUSH, "com.acme.shop.orders.Journal", "flush", 171, Wait::None),
        (FORCE, "sun.nio.ch.FileDispatcherImpl", "force", 82, Wait::Sync),
        (MONITOR, "com.acme.shop.orders.OrderBook", "<monitor>", 0, Wait::Monitor),
        (QUOTE, "com.acme.shop.pricing.PriceEngine", "quote", 120, Wait::None),
    ])
}

fn worker(key: u32) -> Tracer {
    let mut t = Tracer::new(key, EPOCH + 10 * MS, 400);
    t.timed = vec![FORCE, MONITOR, PLACE];
    t.enter(RUN);
    t
}

/// An order; `blocked` = waits for the lock until then, `flush` = how long the disk takes.
fn order(t: &mut Tracer, blocked: Option<u64>, flush: u64) {
    t.within(PLACE, |t| {
        t.now += 80 * US;
        t.call(QUOTE, 900 * US);
        t.within(APPEND, |t| {
            t.now += 5 * US;
            if let Some(until) = blocked {
                t.within(MONITOR, |t| t.now = until.max(t.now));
            }
            t.within(FLUSH, |t| {
                t.now += 20 * US;
                t.call(FORCE, flush);
                t.now += 10 * US;
            });
        });
        t.now += 30 * US;
    });
}

/// The incident's parts: manifest, symbols, threads, events. The slow call is the first waiter's order.
pub(crate) fn convoy() -> (Manifest, Vec<Class>, Vec<Thread>, Vec<Event>) {
    let mut holder = worker(1);
    let mut waiters: Vec<Tracer> = (2..=5).map(worker).collect();
    for t in std::iter::once(&mut holder).chain(&mut waiters) {
        for i in 0..20_u64 {
            t.now += 4 * MS;
            order(t, None, (2 + i % 3) * MS);
        }
    }
    let at = EPOCH + 300 * MS;
    holder.now = at;
    order(&mut holder, None, 380 * MS);
    let released = holder.now - 30 * US;
    let mut free = released;
    for (i, t) in (0..).zip(&mut waiters) {
        t.now = at + (10 + i) * MS;
        order(t, Some(free), 3 * MS);
        free = t.now - 30 * US;
    }
    let slow = *waiters[0].calls.iter().rfind(|c| c.method == PLACE).expect("orders were placed");
    let trigger = Trigger::Slow {
        at: Nanos(slow.end),
        rule: "slow=com.acme.shop.api.OrderApi.*:300ms".into(),
        thread: ThreadKey(2),
        method: MethodId(PLACE),
        start: Nanos(slow.start),
        duration: Nanos(slow.end - slow.start),
        running: false,
    };
    let threads = (1..=5).map(|k| thread(k, &format!("http-{k}"))).collect();
    let mut events: Vec<_> =
        std::iter::once(&mut holder).chain(&mut waiters).flat_map(|t| t.finish()).map(Event::Chunk).collect();
    let gc = EPOCH + 400 * MS;
    events.push(Event::Pause(Nanos(gc), Nanos(gc + 6 * MS), 0));
    (manifest(trigger), symbols(), threads, events)
}

pub(crate) fn recording() -> Recording {
    let (m, c, t, e) = convoy();
    Recording::from_events(m, c, t, e)
}
