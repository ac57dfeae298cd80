// Plain JavaScript: runs a program in a network namespace that has nothing but a loopback address, and connects ports of that
// loopback to Unix sockets outside, and such sockets to ports of the program.
// Usage: node loopback-launcher.mjs [PORT=SOCKET|SOCKET=PORT],… PROGRAM [ARGUMENT…]
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';

const [, , bridges = '', program = '', ...args] = process.argv;

/** A port of the loopback, or the path of a Unix socket. */
const addressOf = (text) => (/^\d+$/.test(text) ? { port: Number(text), host: '127.0.0.1' } : { path: text });

/** Listens on one address and connects each client to the other. */
function bridge(from, to) {
  return new Promise((resolve, reject) => {
    const server = createServer((client) => {
      const remote = connect(addressOf(to));
      client.setNoDelay(true);
      client.pipe(remote).pipe(client);
      for (const [one, other] of [
        [client, remote],
        [remote, client],
      ]) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
      }
    });
    server.once('error', reject);
    server.listen(addressOf(from), resolve);
  });
}

const pairs = bridges === '' ? [] : bridges.split(',');
await Promise.all(pairs.map((each) => bridge(...each.split('='))));
// The whole process group gets the signal of Ctrl-C. The program decides when to end.
process.on('SIGINT', () => {});
const child = spawn(program, args, { stdio: 'inherit' });
child.once('error', (error) => {
  console.error(`${program}: ${error.message}`);
  process.exit(127);
});
child.once('close', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
