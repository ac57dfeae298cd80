/** Program of its own: prints what systeminformation knows of processor and system, since its calls may block. */
import { cpu, osInfo } from 'systeminformation';

const [processor, system] = await Promise.all([cpu(), osInfo()]);
process.stdout.write(
  JSON.stringify({
    cpu: [processor.manufacturer, processor.brand].filter((part) => part !== '').join(' '),
    os: [system.distro, system.release].filter((part) => part !== '').join(' '),
    kernel: system.kernel,
  }),
);
