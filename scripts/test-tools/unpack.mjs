// Tools of a newer Debian release, unpacked into a separate folder. The packages and sources of the machine
// stay unchanged.
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { debianArchive, sourcesFile } from './sources.mjs';
import { fetching, has, step } from './step.mjs';

/** The suites that have the tools, the more stable one first. */
const SUITES = ['forky', 'sid'];
const SCRATCH = '.scratch-';
/** Dependencies that no tool loads: a hundred megabytes of graphics compilers. */
const EXCLUDED = /^(libllvm|mesa-|libz3-|libgl1-mesa|debconf|perl)/;

/** Returns why nothing can be unpacked here, or null. */
export function cannotUnpack() {
  const absent = ['apt-get', 'dpkg-deb'].find((program) => !has(program));
  return absent ? `there is no ${absent} here` : null;
}

/**
 * Returns apt options with every folder below `scratch` and an empty status, so that apt lists complete
 * dependencies.
 */
function privateApt(scratch, archive, suite) {
  const folder = (name) => join(scratch, name);
  for (const name of ['lists/partial', 'cache/archives/partial', 'etc'])
    mkdirSync(folder(name), { recursive: true });
  writeFileSync(folder('etc/parts.sources'), sourcesFile(archive, suite));
  writeFileSync(folder('status'), '');
  const settings = {
    'Dir::Etc::sourcelist': folder('etc/parts.sources'),
    'Dir::Etc::sourceparts': '-',
    'Dir::Etc::preferences': '-',
    'Dir::Etc::preferencesparts': '-',
    'Dir::State': folder('state'),
    'Dir::State::lists': folder('lists'),
    'Dir::State::status': folder('status'),
    'Dir::Cache': folder('cache'),
    'APT::Install-Recommends': '0',
    'APT::Sandbox::User': '',
    'Debug::NoLocking': '1',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '1',
    'Acquire::http::Timeout': '15',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

/** Returns the packages that `wanted` needs, including itself. */
function closure(apt, wanted) {
  const args = [...apt, 'install', '-y', '-q', '--print-uris', wanted];
  const lines = step(`the packages of ${wanted}`, 30, 'apt-get', args).split('\n');
  return lines
    .map((line) => /^'[^']+' ([^_]+)_/.exec(line)?.[1])
    .filter((name) => name !== undefined && !EXCLUDED.test(name));
}

function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}

/**
 * Copies the program and its `companions`, their libraries, and the loader that starts them. Throws when one
 * is missing. A `starter` starts any other program with the libraries in `plugins`.
 */
function copyRuntime(tree, { program, starter, companions = [], plugins }, place) {
  const files = [...filesBelow(tree)];
  const loader = files.find((path) => /\/ld-linux[^/]*\.so\.\d+$/.test(path));
  if (!loader) throw new Error('the packages contain no dynamic loader');
  const programs = (program ? [program, ...companions] : []).map((name) => {
    const binary = files.find((path) => path.endsWith(`bin/${name}`));
    if (!binary) throw new Error(`the packages contain no ${name}`);
    return [name, binary];
  });
  const extra = files.filter((path) => plugins?.test(basename(path)));
  const folders = new Set(files.filter((path) => /\.so(\.|$)/.test(path)).map((path) => dirname(path)));
  const libraries = new Map([loader, ...extra].map((path) => [basename(path), path]));
  for (const path of [...programs.map(([, binary]) => binary), ...extra]) {
    const listed = step(`libraries of ${basename(path)}`, 10, loader, [
      '--library-path',
      [...folders].join(':'),
      '--list',
      path,
    ]);
    const absent = /^\s*(\S+) => not found/m.exec(listed)?.[1];
    if (absent) throw new Error(`${basename(path)} needs ${absent}, which no package contains`);
    for (const [, name, where] of listed.matchAll(/^\s*(\S+) => (\/\S+)/gm))
      libraries.set(basename(name), where);
  }
  mkdirSync(join(place, 'lib'), { recursive: true });
  for (const [name, path] of libraries) copyFileSync(path, join(place, 'lib', name));
  for (const [name, binary] of programs) {
    copyFileSync(binary, join(place, 'lib', `${name}.bin`));
    startScript(place, name, basename(loader), `"$lib/${name}.bin" `);
  }
  if (starter) startScript(place, starter, basename(loader), '');
}

/** Writes the start script. Plug-ins are searched next to the running program, the loader, so all files share one folder. */
function startScript(place, name, loader, binary) {
  const start = `exec "$lib/${loader}" --library-path "$lib" ${binary}"$@"`;
  writeFileSync(join(place, name), `#!/bin/sh\nlib=\${0%/*}/lib\n${start}\n`);
  const started = binary === '' ? [] : [`lib/${name}.bin`];
  for (const path of [name, `lib/${loader}`, ...started]) chmodSync(join(place, path), 0o755);
}

function unpackOne(apt, scratch, { name, unpack }, target) {
  const debs = mkdtempSync(join(scratch, 'debs-'));
  const tree = join(debs, 'tree');
  fetching(
    `download of ${name}`,
    120,
    'apt-get',
    [...apt, 'download', '-q', ...closure(apt, unpack.package)],
    {
      cwd: debs,
    },
  );
  for (const file of readdirSync(debs).filter((each) => each.endsWith('.deb')))
    step(`unpacking ${file}`, 30, 'dpkg-deb', ['-x', join(debs, file), tree]);
  const place = join(debs, 'place');
  copyRuntime(tree, unpack, place);
  const program = unpack.program ?? unpack.starter;
  step(`a first start of ${program}`, 20, join(place, program), unpack.check);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(dirname(target), { recursive: true });
  renameSync(place, target);
}

/** Removes leftovers of a run that was killed more than an hour ago. */
function sweep(cache) {
  for (const name of readdirSync(cache).filter((each) => each.startsWith(SCRATCH))) {
    const path = join(cache, name);
    if (Date.now() - statSync(path).mtimeMs > 3_600_000) rmSync(path, { recursive: true, force: true });
  }
}

/** Fetches the package lists of the first suite that this archive has. Returns the apt options for them. */
function openArchive(scratch, archive) {
  let reason = '';
  for (const suite of SUITES) {
    const apt = privateApt(scratch, archive, suite);
    try {
      fetching(`package lists of ${suite}`, 60, 'apt-get', [...apt, 'update', '-q', '--error-on=any']);
      return apt;
    } catch (error) {
      reason ||= error.message;
    }
  }
  throw new Error(reason);
}

/** Runs `use` with a scratch folder below `cache`, on the same disk, and removes it afterwards. */
function withScratch(cache, use) {
  mkdirSync(cache, { recursive: true });
  sweep(cache);
  const scratch = mkdtempSync(join(cache, SCRATCH));
  try {
    return use(scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * Unpacks each tool into `<cache>/<name>`, completely or not at all. Returns the reason for each failure, by
 * name. Never throws.
 */
export function unpackParts(parts, cache) {
  const reasons = {};
  try {
    const archive = debianArchive();
    if (typeof archive === 'string') throw new Error(archive);
    withScratch(cache, (scratch) => {
      const apt = openArchive(scratch, archive);
      for (const part of parts) {
        try {
          unpackOne(apt, scratch, part, join(cache, part.name));
        } catch (error) {
          reasons[part.name] = error.message;
        }
      }
    });
    return reasons;
  } catch (error) {
    return Object.fromEntries(parts.map(({ name }) => [name, error.message]));
  }
}
