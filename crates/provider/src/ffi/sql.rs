//! Questions to the server in SQL, through the functions of its SQL service for plugins: from MariaDB 10.7 on, and in
//! 10.6 from 10.6.17 on.
//!
//! The service runs statements in the calling thread, without a connection over a socket and without an account. A thread
//! that the server knows (a client's, a receiving one) would run them within what it is doing, so each question has a
//! thread of its own.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_ulong, c_void};
use std::ptr;

/// The server's `MYSQL`, which only its functions look into.
type Session = *mut c_void;
/// Its `MYSQL_RES`.
type Rows = *mut c_void;

/// A node that is not ready refuses statements of ordinary sessions. No question waits for a lock for long, or keeps one.
const SETTINGS: &str = "SET SESSION wsrep_on = OFF, lock_wait_timeout = 1, autocommit = ON";

/// The server's functions, by the names that its executable exports.
struct Functions {
    thread_init: unsafe extern "C" fn() -> c_char,
    thread_end: unsafe extern "C" fn(),
    init: unsafe extern "C" fn(Session) -> Session,
    /// The session alone in newer servers; in older ones four parameters more, which are not used.
    connect: unsafe extern "C" fn(Session, *const c_char, *const c_char, *const c_char, c_ulong) -> Session,
    query: unsafe extern "C" fn(Session, *const c_char, c_ulong) -> c_int,
    store_rows: unsafe extern "C" fn(Session) -> Rows,
    next_row: unsafe extern "C" fn(Rows) -> *mut *mut c_char,
    free_rows: unsafe extern "C" fn(Rows),
    close: unsafe extern "C" fn(Session),
}

impl Functions {
    /// None: the server has no such service.
    fn find() -> Option<Self> {
        // SAFETY: the functions have these parameters in all servers that have the service.
        unsafe {
            Some(Self {
                thread_init: function(c"my_thread_init")?,
                thread_end: function(c"my_thread_end")?,
                init: function(c"server_mysql_init")?,
                connect: function(c"mysql_real_connect_local")?,
                query: function(c"server_mysql_real_query")?,
                store_rows: function(c"server_mysql_store_result")?,
                next_row: function(c"server_mysql_fetch_row")?,
                free_rows: function(c"server_mysql_free_result")?,
                close: function(c"server_mysql_close")?,
            })
        }
    }

    /// The number in the first row's first column. None: the statement failed, or there is none.
    ///
    /// # Safety
    /// The server does not know the calling thread.
    unsafe fn ask(&self, statement: &str) -> Option<u64> {
        // SAFETY: as the caller says; the session and the rows are the server's own, and are freed once.
        unsafe {
            if (self.thread_init)() != 0 {
                return None;
            }
            let session = (self.init)(ptr::null_mut());
            let is_open = !session.is_null()
                && !(self.connect)(session, ptr::null(), ptr::null(), ptr::null(), 0).is_null()
                && self.run(session, SETTINGS);
            let number = if is_open && self.run(session, statement) { self.number(session) } else { None };
            if !session.is_null() {
                (self.close)(session);
            }
            (self.thread_end)();
            number
        }
    }

    /// # Safety
    /// An open session of this thread.
    unsafe fn run(&self, session: Session, statement: &str) -> bool {
        // SAFETY: as the caller says; the server reads so many bytes.
        unsafe { (self.query)(session, statement.as_ptr().cast(), statement.len() as c_ulong) == 0 }
    }

    /// # Safety
    /// A session of this thread that has just run a statement.
    unsafe fn number(&self, session: Session) -> Option<u64> {
        // SAFETY: as the caller says; columns are C strings, which live as long as the rows.
        unsafe {
            let rows = (self.store_rows)(session);
            if rows.is_null() {
                return None;
            }
            let row = (self.next_row)(rows);
            let column = if row.is_null() { ptr::null_mut() } else { *row };
            let text = (!column.is_null()).then(|| CStr::from_ptr(column).to_str().ok()?.parse().ok());
            (self.free_rows)(rows);
            text.flatten()
        }
    }
}

/// A function of the server. None: it has none with this name.
///
/// # Safety
/// `F` is a function pointer, of the function's type.
unsafe fn function<F>(name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) }
    // SAFETY: dlsym looks up a symbol in the loaded libraries; null if there is none.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: as the caller says.
    (!address.is_null()).then(|| unsafe { std::mem::transmute_copy(&address) })
}

/// The number that this statement tells. None: the server has no SQL service, or did not answer with a number.
pub fn number(statement: &str) -> Option<u64> {
    let functions = Functions::find()?;
    // SAFETY: the thread is new.
    std::thread::scope(|scope| scope.spawn(|| unsafe { functions.ask(statement) }).join().ok().flatten())
}
