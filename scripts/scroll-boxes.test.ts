import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const RULE = /([^{}]+)\{([^{}]*)\}/g;
const SCROLLS = /overflow(?:-[xy])?:\s*(?:auto|scroll)/;

/** Selectors of rules that scroll without a `position`. */
function unpositioned(path: string): string[] {
  const css = readFileSync(join(root, path), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  return [...css.matchAll(RULE)].flatMap(([, selector = '', body = '']) =>
    SCROLLS.test(body) && !/position:/.test(body) ? [`${path}: ${selector.trim()}`] : [],
  );
}

// Visually hidden content is absolutely positioned. A box without a position does not clip it, so it extends the window.
test.each(globSync('dashboard/**/*.css', { cwd: root }))(
  'every box that scrolls is positioned: %s',
  (sheet) => {
    expect(unpositioned(sheet)).toEqual([]);
  },
);
