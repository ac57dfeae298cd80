import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { addressOf, inheritedListener } from './inherited-listener.ts';

it.each([
  ['0100007F:1F90', '127.0.0.1', 8080],
  ['00000000:0050', '0.0.0.0', 80],
  ['00000000000000000000000000000000:1F90', '::', 8080],
  ['00000000000000000000000001000000:1F90', '::1', 8080],
  ['B80D0120000000000000000001000000:FFFF', '2001:db8::1', 65_535],
])('%s is %s port %d', (text, host, port) => {
  expect(addressOf(text)).toEqual({ host, port });
});

it.each([
  [{}],
  [{ LISTEN_FDS: '1' }],
  [{ LISTEN_FDS: '1', LISTEN_PID: '99' }],
  [{ LISTEN_FDS: '0', LISTEN_PID: '7' }],
])('%j passes no socket to process 7', (env) => {
  expect(inheritedListener(env, 7)).toBeNull();
});

it('refuses more than one socket, with advice', () => {
  expect(() => inheritedListener({ LISTEN_FDS: '2', LISTEN_PID: '7' }, 7)).toThrow(/hands over 2 sockets/);
});

/** The child receives this socket as descriptor 3, as from a service manager. */
function child(address: string): { stdout: string; stderr: string } {
  const program = `
    import { inheritedListener } from ${JSON.stringify(new URL('./inherited-listener.ts', import.meta.url).href)};
    try { console.log(JSON.stringify(inheritedListener({ LISTEN_FDS: '1', LISTEN_PID: String(process.pid) }, process.pid))); }
    catch (error) { console.log(error.message); }`;
  const parent = `
    const server = require('node:net').createServer().listen({ host: ${JSON.stringify(address)}, port: 0 }, () => {
      const fd = server._handle.fd;
      const run = require('node:child_process').spawnSync(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(program)}], { stdio: ['ignore', 'inherit', 'inherit', fd] });
      console.log(server.address().port); server.close();
    });`;
  return spawnSync(process.execPath, ['-e', parent], { encoding: 'utf8' });
}

it('recognises a real socket with its address', () => {
  const [found, port] = child('127.0.0.1').stdout.trim().split('\n');
  expect(JSON.parse(found ?? '')).toEqual({ fd: 3, host: '127.0.0.1', port: Number(port) });
});

it('refuses a descriptor that is not a socket', () => {
  const env = { LISTEN_FDS: '1', LISTEN_PID: String(process.pid) };
  expect(() => inheritedListener(env, process.pid, '/nonexistent')).toThrow(/not a listening TCP socket/);
});
