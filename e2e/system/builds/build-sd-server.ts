import { copyFileSync, mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../../../daemon/models/find-program.ts';
import { cachedFolder, shortHash } from '../harness/cache.ts';
import { runProgram } from '../harness/program.ts';
import { sourceFolder } from '../harness/source-archive.ts';
import { Unavailable } from '../harness/unavailable.ts';

const MINUTE = 60_000;
/** A compiler on two shared cores takes 5 to 10 minutes. */
const BUILD_LIMIT_MS = 40 * MINUTE;

/** The package of Python bindings contains all sources of stable-diffusion.cpp, which is under the MIT licence. */
const SOURCES = {
  project: 'stable-diffusion-cpp-python',
  version: '0.4.7',
  sha256: '998d1957260dd5ae4e18a8acc0c14b0a8757aaa9f96515197b6d5bbf46df9282',
  folder: 'stable_diffusion_cpp_python-0.4.7/vendor/stable-diffusion.cpp',
} as const;

/** Without its web page and the formats that need additional libraries. */
const OPTIONS = [
  '-DCMAKE_BUILD_TYPE=Release',
  '-DSD_SERVER_BUILD_FRONTEND=OFF',
  '-DSD_WEBP=OFF',
  '-DSD_WEBM=OFF',
];

/**
 * Returns a folder with the program `sd-server`, built once from source. Throws `Unavailable` when the registry, CMake or a
 * compiler is absent.
 */
export async function sdServerFolder(): Promise<string> {
  const missing: string[] = [];
  for (const name of ['cmake', 'make', 'c++']) if ((await findProgram(name)) === null) missing.push(name);
  if (missing.length > 0) throw new Unavailable(`${missing.join(', ')} cannot be found`);
  const source = await sourceFolder(SOURCES);
  return cachedFolder(`sd-server-${shortHash(SOURCES.sha256, ...OPTIONS)}`, async (scratch) => {
    const build = join(scratch, 'build');
    mkdirSync(build);
    await runProgram('cmake', ['-B', build, '-S', source, ...OPTIONS], { limitMs: 5 * MINUTE });
    const jobs = String(availableParallelism());
    await runProgram('cmake', ['--build', build, '--target', 'sd-server', '-j', jobs], {
      limitMs: BUILD_LIMIT_MS,
    });
    copyFileSync(join(build, 'bin', 'sd-server'), join(scratch, 'sd-server'));
  });
}
