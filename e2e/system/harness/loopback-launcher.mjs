// Plain JavaScript: runs a program in a network namespace that has nothing but a loopback address, and connects ports of that
// loopback to Unix sockets outside. Usage: node loopback-launcher.mjs PORT=SOCKET[,PORT=SOCKET…] PROGRAM [ARGUMENT…]
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';

const [, , bridges = '', program = '', ...args] = process.argv;

/** Listens on a port of the loopback and connects each client to a Unix socket. */
function bridge(port, socketPath) {
  return new Promise((resolve, reject) => {
    const server = createServer((client) => {
      const remote = connect(socketPath);
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
    server.listen(Number(port), '127.0.0.1', resolve);
  });
}

await Promise.all(bridges.split(',').map((each) => bridge(...each.split('='))));
// The whole process group gets the signal of Ctrl-C. The program decides when to end.
process.on('SIGINT', () => {});
const child = spawn(program, args, { stdio: 'inherit' });
child.once('error', (error) => {
  console.error(`${program}: ${error.message}`);
  process.exit(127);
});
child.once('close', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
