import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './fs/root.ts';

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  name: string;
  version: string;
};

export const NAME = manifest.name;
export const VERSION = manifest.version;
