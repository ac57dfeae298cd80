import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditRow } from '../../contract/system.ts';
import { tinyChat } from '../../models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../../models/testing/gguf/tiny-embed.ts';
import type { HttpResponse } from './http.ts';
import { OneGateway } from './one-gateway.ts';
import { startGuarded } from './tiny-gateway.ts';

/** A slot file as written by hand. */
export const BY_HAND = `# the small one
model = "tiny"   # see the shelf
parallel = 1
favourite_colour = "green"

[env]
SECRET_OF_MINE = "worth-keeping"
`;

/** A gateway that requires keys, with slot files of every kind, for one test file. Has shortcuts for `/api/slots`. */
export class SlotFilesGateway extends OneGateway {
  constructor() {
    super(() =>
      startGuarded({
        models: {
          second: tinyChat({ context: 4096, sampling: { temp: 0.5, top_k: 20 } }),
          vectors: tinyEmbed(),
        },
        files: {
          'config/slots/utility.toml': BY_HAND,
          'config/slots/hollow.toml': 'model = "not-here"\n',
          'config/slots/broken.toml': 'context = "many"\n',
        },
      }),
    );
  }

  create = (body: object): Promise<HttpResponse> => this.sendAsAdmin('POST', '/api/slots', { body });
  change = (name: string, body: object): Promise<HttpResponse> =>
    this.sendAsAdmin('PUT', `/api/slots/${name}`, { body });
  removeSlot = (name: string): Promise<HttpResponse> => this.sendAsAdmin('DELETE', `/api/slots/${name}`);

  fileOf = (name: string): string => join(this.home, `config/slots/${name}.toml`);
  textOf = (name: string): string => readFileSync(this.fileOf(name), 'utf8');

  /** Returns the audit rows of one action. */
  auditRows = async (action: string): Promise<AuditRow[]> =>
    (await this.sendAsAdmin('GET', '/api/audit'))
      .json<{ entries: AuditRow[] }>()
      .entries.filter((each) => each.action === action);
}

/** Returns the fields that an error names. */
export const fieldsOf = (response: HttpResponse): { path: string; reason: string }[] =>
  response.json<{ error: { details: { fields: { path: string; reason: string }[] } } }>().error.details
    .fields;
