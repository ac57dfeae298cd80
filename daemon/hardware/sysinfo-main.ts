/** Child program that prints systeminformation's processor data, because its calls may block. */
import processors from 'systeminformation/lib/cpu.js';

const { manufacturer, brand } = await processors.cpu();
process.stdout.write(JSON.stringify({ cpu: [manufacturer, brand].filter((part) => part !== '').join(' ') }));
