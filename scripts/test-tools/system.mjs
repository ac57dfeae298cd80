// Tools that are installed on the machine itself, from its configured package sources.
import { fetching, has, step } from './step.mjs';

const FETCH = [
  '-y',
  '-q',
  '--no-install-recommends',
  '-o',
  'Acquire::Retries=1',
  '-o',
  'Acquire::http::Timeout=15',
];

/** Returns why nothing can be installed here, or null. */
export function cannotInstall() {
  if (process.getuid?.() !== 0) return 'it cannot be installed without root';
  return has('apt-get') ? null : 'it cannot be installed without apt-get';
}

/** Downloads first, in a step that may be killed; then installs without a short limit. */
function install(packages) {
  fetching('apt-get download', 120, 'apt-get', ['install', '--download-only', ...FETCH, ...packages]);
  step('apt-get install', 300, 'apt-get', ['install', '--no-download', ...FETCH, ...packages]);
}

/** Installs the packages. Returns the reason of a failure, or null. */
function faultOf(packages) {
  try {
    install(packages);
    return null;
  } catch (error) {
    return error.message;
  }
}

/**
 * Installs the packages of all tools: at once, else after one update, else one by one. Returns the reason for
 * each failure, by name.
 */
export function installParts(parts) {
  const all = parts.flatMap(({ packages }) => packages);
  try {
    install(all);
    return {};
  } catch {
    // The lists may be outdated or missing: try again with new ones.
  }
  const reasons = {};
  let stale = null;
  try {
    fetching('apt-get update', 60, 'apt-get', ['update', '-q', '-o', 'Acquire::http::Timeout=15']);
  } catch (error) {
    stale = error.message;
  }
  for (const { name, packages, otherwise } of parts) {
    const first = faultOf(packages);
    const fault = first !== null && otherwise ? faultOf(otherwise) : first;
    if (fault !== null) reasons[name] = stale ?? fault;
  }
  return reasons;
}
