import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cachedFolder, sha256OfFile, shortHash } from './cache.ts';
import { runInstaller } from './packages.ts';
import { runProgram } from './program.ts';
import { pythonTools } from './python-environment.ts';
import { requirementOf } from './wheel-files.ts';

const DOWNLOAD_LIMIT_MS = 240_000;
const EXTRACT_LIMIT_MS = 120_000;

/** A folder of one source archive (`.tar.gz`) of a package registry. */
export interface SourceArchive {
  readonly project: string;
  readonly version: string;
  /** SHA-256 of the archive. */
  readonly sha256: string;
  /** The folder that is wanted, as a path inside the archive. */
  readonly folder: string;
}

/**
 * Downloads a source archive without dependencies, verifies it and returns the wanted folder of it. pip runs the build
 * backend of the archive for its metadata, so use it only for optional suites. Throws `Unavailable` when Python or the
 * registry is absent.
 */
export async function sourceFolder({ project, version, sha256, folder }: SourceArchive): Promise<string> {
  const python = await pythonTools();
  const name = `${project}-${version}-${shortHash(sha256, folder)}`;
  const entry = await cachedFolder(name, async (scratch) => {
    const requirement = join(scratch, 'requirement.txt');
    writeFileSync(requirement, requirementOf({ project, version, sha256 }));
    const args = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--require-hashes', '--no-cache-dir'];
    const target = ['--no-binary', ':all:', '--ignore-requires-python', '--dest', scratch, '-r', requirement];
    await runInstaller(python, [...args, ...target], { limitMs: DOWNLOAD_LIMIT_MS });
    const archive = readdirSync(scratch).find((each) => each.endsWith('.tar.gz'));
    if (archive === undefined) throw new Error(`pip has downloaded no archive of ${project}`);
    const found = await sha256OfFile(join(scratch, archive));
    if (found !== sha256) throw new Error(`${archive} has the SHA-256 ${found}, expected ${sha256}`);
    await runProgram(python, ['-m', 'tarfile', '-e', join(scratch, archive), join(scratch, 'all')], {
      limitMs: EXTRACT_LIMIT_MS,
    });
    renameSync(join(scratch, 'all', folder), join(scratch, 'wanted'));
  });
  return join(entry, 'wanted');
}
