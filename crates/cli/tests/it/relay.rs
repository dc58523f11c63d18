//! A TCP relay before a server, whose connections can be cut on the client's side only: the server does not hear of it, as where
//! a network is gone, and goes on with its statements.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Client and server of each connection, by the port from which it goes to the server.
type Connections = Arc<Mutex<HashMap<u16, (TcpStream, TcpStream)>>>;

/// It ends with the process.
pub struct Relay {
    port: u16,
    connections: Connections,
    /// Their server's side.
    cut: Mutex<Vec<TcpStream>>,
}

impl Relay {
    /// Before a server of this machine.
    pub fn start(server_port: u16) -> Relay {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Connections::default();
        let known = Arc::clone(&connections);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, server_port)) else { continue };
                let kept = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let server_side = server.local_addr().unwrap().port();
                known.lock().unwrap().insert(server_side, kept);
                let (mut from_client, mut to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let (mut from_server, mut to_client) = (server, client);
                let (open, from) = (Arc::clone(&known), server_side);
                thread::spawn(move || {
                    let _ = io::copy(&mut from_client, &mut to_server);
                    // Not of one that was cut.
                    if open.lock().unwrap().remove(&from).is_some() {
                        let _ = to_server.shutdown(Shutdown::Write);
                    }
                });
                thread::spawn(move || {
                    let _ = io::copy(&mut from_server, &mut to_client);
                    let _ = to_client.shutdown(Shutdown::Both);
                });
            }
        });
        Relay { port, connections, cut: Mutex::default() }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The client of a connection finds it closed. `port`: as the server sees it.
    pub fn cut(&self, port: u16) {
        let (client, server) = self.connections.lock().unwrap().remove(&port).unwrap();
        self.cut.lock().unwrap().push(server);
        client.shutdown(Shutdown::Both).unwrap();
    }
}
