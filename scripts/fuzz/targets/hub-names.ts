import { posix, win32 } from 'node:path';
import { collide, isRepoName, isSafePath } from '../../../daemon/models/pulls/hub-names.ts';
import { promise } from '../promise.ts';

const FOLDER = '/models/owner/name';

/** A path that a hub names stays below its folder on every file system, whatever it holds. */
function stays(path: string): void {
  const at = posix.resolve(FOLDER, path);
  promise(at === `${FOLDER}/${path}`, `the path of ${JSON.stringify(path)}`);
  promise(
    !/[\\:*?"<>|\0-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(path),
    'a sign that means something elsewhere',
  );
  promise(win32.resolve('C:\\m', path) === `C:\\m\\${path.replaceAll('/', '\\')}`, 'a path of Windows');
  promise(collide([path, path.toUpperCase()]) || path === path.toUpperCase(), 'two names of one file');
}

/** Names of a hub: a text is a path or a repository only when it can be one of our folders. */
export function fuzz(data: Buffer): void {
  const text = data.toString('utf8');
  if (isSafePath(text)) stays(text);
  if (!isRepoName(text)) return;
  stays(text);
  promise(text.split('/').length === 2, 'an owner and a name');
}
