import { START_FLAG } from '../../daemon/lib/perf/v8-flags.ts';
import type { App } from './app.ts';
import { below, type Entry, PROGRAM, textEntry } from './entry.ts';
import type { Cpu } from './modules.ts';

/** As in `packaging/debian/svcctl.sh`. */
const SVCCTL = {
  flags: '--disable-warning=ExperimentalWarning --min-semi-space-size=4',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program
  before: 'export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$here/../lib/.cache/compile}"\n',
};

/** Finds its own location through the symlinks that npm creates. */
const launcher = (program: string, flags: string, before = ''): string => `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
${before}exec "$here/../lib/bin/node" ${flags} "$here/../lib/daemon/${program}" "$@"
`;

/**
 * Returns the package for `npm install -g FILE.tgz`: the program folder of the Debian package with its own
 * runtime, so that npm downloads and runs nothing. It contains no service user and no unit.
 */
export function npmEntries(app: App, cpu: Cpu): Entry[] {
  const manifest = {
    name: 'svc-gateway',
    version: app.version,
    description: 'The inference gateway for a home lab, with its own runtime.',
    license: 'Apache-2.0',
    os: ['linux'],
    cpu: [cpu],
    libc: ['glibc'],
    bin: { 'svc-gateway': 'bin/svc-gateway', svcctl: 'bin/svcctl' },
  };
  return [
    textEntry('package.json', `${JSON.stringify(manifest, null, 2)}\n`),
    textEntry('bin/svc-gateway', launcher('main.js', START_FLAG), PROGRAM),
    textEntry('bin/svcctl', launcher('cli/main.cjs', SVCCTL.flags, SVCCTL.before), PROGRAM),
    ...below('lib', app.entries),
  ];
}
