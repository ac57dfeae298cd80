/** Program of its own: prints what systeminformation knows of the processor, since its calls may block. */
import processors from 'systeminformation/lib/cpu.js';

const { manufacturer, brand } = await processors.cpu();
process.stdout.write(JSON.stringify({ cpu: [manufacturer, brand].filter((part) => part !== '').join(' ') }));
