import { createReadStream, createWriteStream, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { type App, app } from './app.ts';
import { arFrames } from './ar.ts';
import { type Compression, compressTo, SUFFIX } from './compress.ts';
import { controlEntries, type DebianArch, dataEntries } from './debian.ts';
import { below, bytesOf, type Entry, textEntry } from './entry.ts';
import type { Cpu } from './modules.ts';
import { npmEntries } from './npm.ts';
import { tar } from './tar.ts';

export interface BuildOptions {
  root: string;
  /** Folder of the result. */
  out: string;
  arch: DebianArch;
  compression: Compression;
  /** Unix seconds for every file. */
  date: number;
  version?: string | undefined;
  /**
   * Changes a text of the daemon (null: unchanged), so that tests can build an earlier or later release. The
   * build fails when nothing was changed.
   */
  edit?: (text: string) => string | null;
}

const CPU: Readonly<Record<DebianArch, Cpu>> = { amd64: 'x64', arm64: 'arm64' };

async function program({ root, arch, version, edit }: BuildOptions): Promise<App> {
  const made = await app({ root, cpu: CPU[arch], version });
  if (edit === undefined) return made;
  let edited = 0;
  const entries = made.entries.map((entry) => {
    const text = entry.path.startsWith('daemon/') ? edit(bytesOf(entry).toString('utf8')) : null;
    if (text === null) return entry;
    edited += 1;
    return textEntry(entry.path, text, entry.mode);
  });
  if (edited === 0) throw new Error('nothing of the daemon was edited');
  return { ...made, entries };
}

async function append(file: string, out: NodeJS.WritableStream): Promise<void> {
  for await (const piece of createReadStream(file)) {
    if (!out.write(piece)) await new Promise<void>((resolve) => out.once('drain', resolve));
  }
}

/** Joins the parts into an ar archive. */
async function joinParts(file: string, parts: readonly { name: string; file: string }[], date: number) {
  const members = parts.map((part) => ({ name: part.name, size: statSync(part.file).size }));
  const frames = arFrames(members, date);
  const out = createWriteStream(file);
  for (const [index, part] of parts.entries()) {
    out.write(frames[index] as Buffer);
    await append(part.file, out);
  }
  out.end(frames.at(-1));
  await finished(out);
}

/**
 * Writes `svc-gateway_VERSION_ARCH.deb` and returns its path. The same sources and date give the same bytes.
 */
export async function buildDeb(options: BuildOptions): Promise<string> {
  const { root, out, arch, compression, date } = options;
  const made = await program(options);
  const data = dataEntries(root, made, date);
  const file = join(out, `svc-gateway_${made.version}_${arch}.deb`);
  const scratch = `${file}.parts`;
  mkdirSync(scratch, { recursive: true });
  try {
    const archive = async (name: string, entries: readonly Entry[]) => {
      const part = { name: `${name}.tar${SUFFIX[compression]}`, file: join(scratch, name) };
      await compressTo(part.file, tar(entries, date, './'), compression);
      return part;
    };
    const marker = { name: 'debian-binary', file: join(scratch, 'debian-binary') };
    await finished(createWriteStream(marker.file).end('2.0\n'));
    const control = await archive('control', controlEntries(root, made, arch, data));
    await joinParts(join(scratch, 'deb'), [marker, control, await archive('data', data)], date);
    renameSync(join(scratch, 'deb'), file);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return file;
}

/**
 * Writes `svc-gateway-VERSION-linux-CPU.tgz` for `npm install -g`, with all dependencies, and returns its
 * path.
 */
export async function buildNpm(options: BuildOptions): Promise<string> {
  const made = await program(options);
  const cpu = CPU[options.arch];
  mkdirSync(options.out, { recursive: true });
  const file = join(options.out, `svc-gateway-${made.version}-linux-${cpu}.tgz`);
  await compressTo(`${file}.tmp`, tar(below('package', npmEntries(made, cpu)), options.date), 'gzip');
  renameSync(`${file}.tmp`, file);
  return file;
}
