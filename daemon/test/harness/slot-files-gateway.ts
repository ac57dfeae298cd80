import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditRow } from '../../contract/system.ts';
import { tinyEmbed } from '../../models/gguf/testing/tiny-embed.ts';
import { tinyChat } from '../../models/gguf/tiny-chat.ts';
import type { Answer } from './http.ts';
import { OneGateway } from './one-gateway.ts';
import { startGuarded } from './tiny-gateway.ts';

/** A slot file as somebody writes it by hand. */
export const BY_HAND = `# the small one
model = "tiny"   # see the shelf
parallel = 1
favourite_colour = "green"

[env]
SECRET_OF_MINE = "worth-keeping"
`;

/** A guarded gateway for one test file, with slot files of every kind, and an admin at `/api/slots`. */
export class SlotFilesGateway extends OneGateway {
  constructor() {
    super(() =>
      startGuarded({
        models: { second: tinyChat({ context: 4096 }), vectors: tinyEmbed() },
        files: {
          'config/slots/utility.toml': BY_HAND,
          'config/slots/hollow.toml': 'model = "not-here"\n',
          'config/slots/broken.toml': 'context = "many"\n',
        },
      }),
    );
  }

  create = (body: object): Promise<Answer> => this.say('POST', '/api/slots', { body });
  change = (name: string, body: object): Promise<Answer> => this.say('PUT', `/api/slots/${name}`, { body });
  removeSlot = (name: string): Promise<Answer> => this.say('DELETE', `/api/slots/${name}`);

  fileOf = (name: string): string => join(this.home, `config/slots/${name}.toml`);
  textOf = (name: string): string => readFileSync(this.fileOf(name), 'utf8');

  /** Entries of the audit trail about one act. */
  audited = async (action: string): Promise<AuditRow[]> =>
    (await this.say('GET', '/api/audit'))
      .json<{ entries: AuditRow[] }>()
      .entries.filter((each) => each.action === action);
}

/** The fields that a refusal names. */
export const fieldsOf = (answer: Answer): { path: string; reason: string }[] =>
  answer.json<{ error: { details: { fields: { path: string; reason: string }[] } } }>().error.details.fields;
