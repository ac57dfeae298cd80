/**
 * The steps of the daemon build that change text or files. e2e/system/install/daemon-build.test.ts runs a
 * full build.
 */
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scratch } from '../../daemon/lib/testing/scratch.ts';
import { sortedImports, sweep } from './daemon.ts';

it('imports have the order of their sources, whatever the placeholder hashes of chunks are', () => {
  const fs = 'import { rmSync } from "node:fs";';
  const one = (hash: string) => `import { t as b } from "./b-!~{${hash}}~.js";`;
  const two = (hash: string) => `import { n as a, t } from "./a-!~{${hash}}~.js";`;
  const rest = '// import "x";\nvar x = b;\nimport "./a";\n';
  expect(sortedImports([fs, one('001'), two('002'), rest].join('\n'))).toBe(
    [two('002'), one('001'), fs, rest].join('\n'),
  );
  expect(sortedImports([two('000'), fs, one('004'), rest].join('\n'))).toBe(
    [two('000'), one('004'), fs, rest].join('\n'),
  );
  expect(sortedImports('import "./only.js";')).toBe('import "./only.js";');
});

it('chunks of earlier builds go a week later: a gateway that runs may still read them in', () => {
  const out = scratch();
  mkdirSync(join(out, 'chunks'));
  for (const [name, days] of [
    ['new', 0],
    ['older', 6],
    ['old', 8],
  ] as const) {
    const file = join(out, 'chunks', name);
    writeFileSync(file, '');
    utimesSync(file, 0, Date.now() / 1000 - days * 86_400);
  }
  sweep(out);
  expect(readdirSync(join(out, 'chunks')).sort()).toEqual(['new', 'older']);
});
