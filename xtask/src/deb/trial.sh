# What people do with the packages, in a new system. Ends at the first thing that does not work.
set -eu
mount -t proc proc /proc
export DEBIAN_FRONTEND=noninteractive
say() { printf '== %s\n' "$*"; }
fail() {
    echo "$*" >&2
    exit 1
}
# The debug symbols of a package are of the program that it has, which has none itself.
check_symbols() { # package, program
    size=$(stat -c %s "$2")
    [ "$size" -lt 20000000 ] || fail "$2 has $size bytes: are its debug symbols in it?"
    dpkg --install /packages/"$1"-dbgsym_* >/dev/null
    symbols=$(dpkg --listfiles "$1-dbgsym" | grep '\.debug$') || fail "$1-dbgsym has no debug symbols"
    [ -s "$symbols" ] || fail "$symbols is empty"
    id=$(echo "$symbols" | sed -n 's|.*/\.build-id/\(..\)/\(.*\)\.debug|\1\2|p')
    [ -n "$id" ] || fail "$symbols has not the place of a build ID, where debuggers look"
    od -An -v -tx1 -N4096 "$2" | tr -d ' \n' | grep -q "$id" || fail "$symbols is not of $2"
}

# No service starts in a folder.
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d

say "install hortator"
apt-get --quiet --quiet update
apt-get --quiet --quiet --yes --no-install-recommends install /packages/hortator_*.deb >/dev/null
hortator --version
for file in /usr/share/man/man1/hortator.1.gz /usr/share/man/man1/hortator-load.1.gz \
    /usr/share/bash-completion/completions/hortator /usr/share/zsh/vendor-completions/_hortator \
    /usr/share/fish/vendor_completions.d/hortator.fish /usr/lib/systemd/system/hortator-replicate@.service \
    /usr/share/doc/hortator/docs/load.md; do
    [ -s "$file" ] || fail "the package lacks $file"
done
check_symbols hortator /usr/bin/hortator

say "a witness, without any database server"
apt-get --quiet --quiet --yes --no-install-recommends install /packages/hortator-witness_*.deb >/dev/null
if [ -e /usr/sbin/mariadbd ]; then fail "the witness brought a server"; fi
check_symbols hortator-witness /usr/bin/hortator-witness
id hortator-witness >/dev/null
for file in /usr/share/man/man1/hortator-witness.1.gz /usr/lib/systemd/system/hortator-witness.service \
    /etc/default/hortator-witness; do
    [ -s "$file" ] || fail "the package lacks $file"
done
install -d -o hortator-witness -g hortator-witness -m 700 /var/lib/hortator-witness
setpriv --reuid=hortator-witness --regid=hortator-witness --clear-groups hortator-witness --dir /var/lib/hortator-witness \
    --cluster-address gcomm://127.0.0.1:4999 --listen 127.0.0.1:4998 2>/tmp/witness.log &
witness=$!
for _ in $(seq 100); do if grep -q "the witness listens" /tmp/witness.log; then break; fi; sleep 0.1; done
kill "$witness"
wait "$witness" || { cat /tmp/witness.log >&2; exit 1; }

say "load without a server: one message"
if hortator load /dev/null 2>/tmp/message; then fail "a load without a server succeeded"; fi
cat /tmp/message

say "load a dump into a private server, as another user"
apt-get --quiet --quiet --yes --no-install-recommends install mariadb-server mariadb-client rsync >/dev/null
useradd --create-home visitor
su visitor -c 'set -e; cd
    echo "CREATE DATABASE shop; USE shop; CREATE TABLE t (id INT PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, '"'a'"'), (2, '"'b'"');" >dump.sql
    hortator sandbox up --name shop >/dev/null
    hortator load -S ~/.local/state/hortator/sandbox/shop/node1/socket -u root --verify dump.sql
    hortator sandbox down shop'

say "the provider"
apt-get --quiet --quiet --yes --no-install-recommends install /packages/hortator-provider_*.deb >/dev/null
check_symbols hortator-provider /usr/lib/hortator/libhortator_wsrep.so
su visitor -c 'set -e; cd
    hortator sandbox up cluster 1 --name node >/dev/null
    hortator sandbox status node
    hortator sandbox kill node; hortator sandbox start node
    hortator sandbox down node
    hortator sandbox up cluster 2 --witness --name pair >/dev/null
    hortator sandbox status pair
    hortator sandbox kill pair 2; hortator sandbox start pair
    hortator sandbox down pair'

say "a server of the packages with the provider: started as galera_new_cluster does, killed, and recovered by galera_recovery"
cat >/etc/mysql/mariadb.conf.d/70-hortator.cnf <<END
[mariadbd]
wsrep_on = ON
wsrep_provider = /usr/lib/hortator/libhortator_wsrep.so
wsrep_cluster_name = shop
wsrep_cluster_address = gcomm://127.0.0.1
wsrep_node_address = 127.0.0.1
binlog_format = ROW
skip_networking
END
install -d -o mysql -g mysql /run/mysqld
start() { # further options: waits until the server takes statements
    setpriv --reuid=mysql --regid=mysql --clear-groups mariadbd "$@" 2>>/tmp/server.log &
    server=$!
    for _ in $(seq 300); do
        if mariadb -N -e "SHOW STATUS LIKE 'wsrep_ready'" 2>/dev/null | grep -q ON; then return; fi
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    cat /tmp/server.log >&2
    exit 1
}
start --wsrep-new-cluster
mariadb -e 'CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY); INSERT INTO shop.t VALUES (1), (2), (3)'
kill -KILL "$server"
wait "$server" || true
position=$(runuser -u mysql -- galera_recovery)
echo "$position"
case $position in *--wsrep_start_position=*:[1-9]*) ;; *) fail "galera_recovery found no position" ;; esac
# shellcheck disable=SC2086 # options, as in the unit of the server
start $position
[ "$(mariadb -N -e 'SELECT COUNT(*) FROM shop.t')" = 3 ]
mariadb-admin shutdown
wait "$server" || true

say "remove"
apt-get --quiet --quiet --yes purge hortator hortator-provider hortator-witness hortator-dbgsym hortator-provider-dbgsym \
    hortator-witness-dbgsym >/dev/null
[ ! -e /usr/bin/hortator ] && [ ! -e /usr/lib/hortator ] && [ ! -e /var/lib/hortator-witness ]
say "done"
