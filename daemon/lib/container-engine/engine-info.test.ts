import { expect, test } from 'vitest';
import { apiVersion, engineInfo } from './engine-info.ts';

test.each([
  ['1.41', '1.24', '1.41'],
  ['1.54', '1.24', '1.41'],
  ['1.54', '1.44', '1.44'],
  ['1.41', undefined, '1.41'],
  ['1.40', '1.24', null],
  ['1.5', '1.2', null],
])('an engine with API %s down to %s is used with %s', (newest, oldest, expected) => {
  expect(apiVersion(newest, oldest)).toBe(expected);
});

const podman = (Version: string) => ({
  Version,
  ApiVersion: '1.41',
  Components: [{ Name: 'Podman Engine' }],
});
const docker = { Version: '28.2.2', ApiVersion: '1.50', Components: [{ Name: 'Engine' }] };

test('distinguishes Podman and Docker, and reads the rootless flag of each', () => {
  expect(engineInfo(podman('4.3.1'), { Rootless: false, Runtimes: { runc: {} } }, '1.41')).toEqual({
    kind: 'podman',
    version: '4.3.1',
    api: '1.41',
    rootless: false,
    runtimes: ['runc'],
    cdi: false,
  });
  expect(
    engineInfo(docker, { SecurityOptions: ['name=seccomp,profile=builtin', 'name=rootless'] }, '1.41'),
  ).toEqual({ kind: 'docker', version: '28.2.2', api: '1.41', rootless: true, runtimes: [], cdi: false });
});

test('CDI names: from Podman 5, and with Docker if it has CDI folders', () => {
  expect(engineInfo(podman('5.0.0'), {}, '1.41').cdi).toBe(true);
  expect(engineInfo(docker, { CDISpecDirs: ['/etc/cdi'] }, '1.41').cdi).toBe(true);
});
