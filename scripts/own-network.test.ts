import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';

const { inOwnNetwork } = (await import(pathToFileURL(`${import.meta.dirname}/own-network.mjs`).href)) as {
  inOwnNetwork: (ip: string | undefined, command: string[]) => string[];
};

const run = ([program = '', ...args]: string[]) => spawnSync(program, args, { encoding: 'utf8' });
const ADDRESSES =
  'console.log(Object.values(require("os").networkInterfaces()).flat().map((each) => each.address).join())';
const print = [process.execPath, '-e', ADDRESSES];
/** Listens on a free port and connects to it. */
const CONNECT = `const server = require('node:net').createServer((socket) => socket.end('ok'));
server.listen(0, '127.0.0.1', () => {
  require('node:net').connect(server.address().port, '127.0.0.1').on('data', (data) => {
    console.log(String(data));
    server.close();
  });
});`;

describe('a separate network', () => {
  const ip = process.env.SVC_TEST_IP;

  const cannotEnter = !ip || process.getuid?.() !== 0;

  it.skipIf(cannotEnter)('has loopback addresses and at most one address of a local network', () => {
    const { status, stdout } = run(inOwnNetwork(ip, print));
    expect(status).toBe(0);
    const others = stdout
      .trim()
      .split(',')
      .filter((address) => !['127.0.0.1', '::1'].includes(address));
    expect(['', '192.168.77.2']).toContain(others.join());
  });

  it.skipIf(cannotEnter)('connects to its own ports', () => {
    expect(run(inOwnNetwork(ip, [process.execPath, '-e', CONNECT]))).toMatchObject({
      status: 0,
      stdout: 'ok\n',
    });
  });

  it('exits with the code of its program', () => {
    const status = [process.execPath, '-e', 'process.exit(7)'];
    expect(run(inOwnNetwork(ip, status)).status).toBe(7);
  });

  it('the command line is unchanged without the program that brings loopback up', () => {
    expect(inOwnNetwork(undefined, print)).toBe(print);
    expect(inOwnNetwork('/nowhere/ip', print)).toBe(print);
  });
});
