import { silentLog } from '../../lib/log.ts';
import { SlotsBench } from './slots-bench.ts';

/** A minimal gateway that a test kills: loads slot `agent` and prints the folder and the pid of its engine. */
const [path] = process.argv.slice(2) as [string];
const bench = new SlotsBench();
bench.model = { id: 'demo', path, type: 'llm', demo: true, sizeBytes: 1_000_000, contextTrain: 512 };
const slots = bench.open({ log: silentLog() });
const record = await slots.load('agent');
process.stdout.write(`${JSON.stringify({ root: bench.root, pid: record.pid })}\n`);
setInterval(() => {}, 1_000);
