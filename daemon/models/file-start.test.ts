import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { describeStart } from './file-start.ts';
import { metadataOfPath } from './metadata-of-path.ts';

test.each([
  ['version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 4683073952\n', /Git LFS/],
  ['<!DOCTYPE html><title>Log in</title>', /web page/],
  ['\n <html lang="en">', /web page/],
  ['<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', /web page/],
  ['PK\u0003\u0004 and more', /ZIP/],
  ['lmgg', /old GGML/],
  ['{"error":"Repository not found"}', /error message/],
  ['', /is empty/],
])('%j is named, also as the reason of the scan', async (text, reason) => {
  const path = join(scratch(), 'm.gguf');
  writeFileSync(path, text);
  expect(await describeStart(path)).toMatch(reason);
  expect(await metadataOfPath(path)).toMatchObject({ reason: expect.stringMatching(reason) });
});

test('anything else has the reason of its reader', async () => {
  const path = join(scratch(), 'm.gguf');
  writeFileSync(path, 'something else entirely');
  expect(await describeStart(path)).toBeNull();
  expect(await describeStart(`${path}.absent`)).toBeNull();
  expect(await metadataOfPath(path)).toMatchObject({ reason: 'it is not a GGUF file' });
});
