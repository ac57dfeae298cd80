// Plain JavaScript for Node 20: the command lines of `npm test`, `npm run test:system` and their variants.

export const USAGE = `usage: npm test [-- PATH…]            every suite, or only these files and folders
       npm run test:changed [-- REF]   the tests that a change affects (default: uncommitted changes)
       npm run test:watch [-- PATH…]   run again after each change
       npm run test:system [-- --with clients|models|torch|builds] [PATH…]
                                       installed packages, systemd, proxies, fuzzing, real engines, the bench gate`;

/** Optional groups of system tests: too large for every run. */
const GROUPS = ['clients', 'models', 'torch', 'builds'];

/**
 * Parses the arguments of the test runner. Returns `{mode, paths, ref, groups}`, or `{error}` with one line for the user.
 * `mode` is `all`, `changed`, `watch` or `system`.
 */
export function parseArguments(args) {
  const parsed = { mode: 'all', paths: [], ref: null, groups: [] };
  for (let at = 0; at < args.length; at++) {
    const arg = args[at];
    if (['--changed', '--watch', '--system'].includes(arg)) parsed.mode = arg.slice(2);
    else if (arg === '--with') {
      const group = args[++at];
      if (!GROUPS.includes(group)) return { error: `--with takes one of: ${GROUPS.join(', ')}` };
      parsed.groups.push(group);
    } else if (arg.startsWith('-')) return { error: `unknown option ${arg}` };
    else parsed.paths.push(arg);
  }
  if (parsed.groups.length > 0 && parsed.mode !== 'system')
    return { error: '--with needs npm run test:system' };
  if (parsed.mode !== 'changed') return parsed;
  if (parsed.paths.length > 1) return { error: 'test:changed takes one commit or branch' };
  return { ...parsed, ref: parsed.paths[0] ?? null, paths: [] };
}

const SYSTEM_FOLDER = 'e2e/system';

/** Whether `path` is `folder` or lies below it. */
const isBelow = (path, folder) => path === folder || path.startsWith(`${folder}/`);

/**
 * Sorts paths (relative to the root, without a trailing slash) by the runner that knows them:
 * `vitest` (the suites of `npm test`), `browser` (Playwright) and `system`. A folder that holds several kinds is in each.
 */
export function groupPaths(paths) {
  const groups = { vitest: [], browser: [], system: [] };
  for (const path of paths) {
    if (isBelow(path, SYSTEM_FOLDER)) groups.system.push(path);
    else if (isBelow(path, 'e2e')) groups.browser.push(path);
    else groups.vitest.push(path);
  }
  return groups;
}
