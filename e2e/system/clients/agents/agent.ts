import type { AgentName } from '../../../../daemon/contract/agent-config.ts';
import type { ScriptedCall } from '../scripted-model.ts';

/** Where a session takes place. */
export interface Place {
  /** The folder of the installed packages. */
  readonly packages: string;
  readonly home: string;
  /** The folder with the files of the task. */
  readonly work: string;
  /** The name by which the agent requests its model. */
  readonly model: string;
}

/** How one coding agent is started, and with which of its tools a model does the task. */
export interface Agent {
  readonly title: string;
  /** Returns the folder of its installed packages. Throws `Unavailable`. */
  readonly install: () => Promise<string>;
  /** Its name for `svcctl agents`. */
  readonly configuration: AgentName;
  /** Puts the printed configuration where the agent reads it. Returns variables that it needs. */
  readonly configure: (text: string, place: Place) => Readonly<Record<string, string>>;
  /** Variables that turn off updates, telemetry and questions. */
  readonly env: Readonly<Record<string, string>>;
  /** The command that works on one prompt without a person. */
  readonly command: (prompt: string, place: Place) => readonly string[];
  readonly read: (path: string) => ScriptedCall;
  readonly edit: (path: string, before: string, after: string) => ScriptedCall;
  readonly run: (command: string) => ScriptedCall;
  /** The call whose result holds a PDF. */
  readonly readPdf: (path: string) => ScriptedCall;
  /** What the model receives instead of it. */
  readonly pdfText: string;
}
