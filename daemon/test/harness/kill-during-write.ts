/** `node kill-during-write.ts WRITER ROOT N`: does one write of the table and kills itself before its N-th call; 0 = never. */
import { withFault } from './failing-fs.ts';
import { writerOf } from './writers-all.ts';

const [name = '', root = '', at = '0'] = process.argv.slice(2);
const pending = await (await writerOf(name)).begin(root);
const { error } = await withFault({ root, kind: 'kill', at: Number(at) }, () => pending.write());
await pending.end?.();
if (error !== null) throw error;
