import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';

const { inOwnNetwork } = (await import(pathToFileURL(`${import.meta.dirname}/own-network.mjs`).href)) as {
  inOwnNetwork: (ip: string | undefined, command: string[]) => string[];
};

const run = ([program = '', ...args]: string[]) => spawnSync(program, args, { encoding: 'utf8' });
const NAMES = 'console.log(Object.keys(require("os").networkInterfaces()).join())';
const print = [process.execPath, '-e', NAMES];

describe('a separate network', () => {
  const ip = process.env.SVC_TEST_IP;

  it.skipIf(!ip || process.getuid?.() !== 0)('has a loopback that is up, and nothing else', () => {
    const command = inOwnNetwork(ip, print);
    expect(run(command)).toMatchObject({ status: 0, stdout: 'lo\n' });
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
