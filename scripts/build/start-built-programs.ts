import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';
import { ADDRESS } from './addresses.ts';

/** Whether the built files in `folder` contain this program. A name with a placeholder is assumed to exist. */
const isBuilt = (folder: string, path: string): boolean =>
  path.includes('${') || existsSync(join(folder, `${path}.js`));

/**
 * For unit tests, which run the sources: lets them start the built programs in `out`. Started from its
 * sources, a program takes a tenth of a second longer, and unit tests start hundreds.
 */
export function startBuiltPrograms(root: string, out: string): Plugin {
  const sources = join(root, 'daemon') + sep;
  return {
    name: 'started-as-built',
    enforce: 'pre',
    transform(code, id) {
      if (!id.startsWith(sources) || !code.includes('import.meta.url')) return null;
      const folder = join(out, dirname(relative(sources, id)));
      const base = JSON.stringify(pathToFileURL(folder + sep).href);
      return code.replace(ADDRESS, (address, quote: string, path: string) =>
        isBuilt(folder, path) ? `new URL(${quote}${path}.js${quote}, ${base})` : address,
      );
    },
  };
}
