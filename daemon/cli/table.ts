import type { Command } from './command.ts';
import { authCommands } from './commands/auth.ts';
import { chatCommands } from './commands/chat.ts';
import { completionCommands } from './commands/completion.ts';
import { embedCommands } from './commands/embed.ts';
import { explainCommands } from './commands/explain.ts';
import { imageCommands } from './commands/image.ts';
import { logCommands } from './commands/logs.ts';
import { machineCommands } from './commands/machine.ts';
import { maintenanceCommands } from './commands/maintenance.ts';
import { modelCommands } from './commands/models.ts';
import { pullCommands } from './commands/pulls.ts';
import { requestCommands } from './commands/requests.ts';
import { slotFileCommands } from './commands/slot-files.ts';
import { slotCommands } from './commands/slots.ts';
import { soundCommands } from './commands/sound.ts';
import { statusCommands } from './commands/status.ts';
import { upstreamCommands } from './commands/upstreams.ts';

/** All commands. Execution, help, completion and manual use these rows. */
export const COMMANDS: readonly Command[] = [
  ...statusCommands,
  ...authCommands,
  ...slotCommands,
  ...slotFileCommands,
  ...modelCommands,
  ...pullCommands,
  ...upstreamCommands,
  ...machineCommands,
  ...explainCommands,
  ...chatCommands,
  ...imageCommands,
  ...soundCommands,
  ...embedCommands,
  ...requestCommands,
  ...logCommands,
  ...maintenanceCommands,
  ...completionCommands,
];
