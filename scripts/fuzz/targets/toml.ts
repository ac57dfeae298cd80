import { parse } from 'smol-toml';
import { MAX_CONFIG_BYTES, readConfigText } from '../../../daemon/settings/config-text.ts';
import { assertProperty, assertSame } from '../assert.ts';

/** Any configuration file gives the same tables as a TOML parser, or a reason with an existing line. */
export function fuzz(data: Buffer): void {
  const read = readConfigText(data);
  const lines = data.toString('latin1').split('\n').length;
  if (!read.ok) {
    assertProperty(
      read.line === null ? data.length > MAX_CONFIG_BYTES : read.line >= 1 && read.line <= lines,
      'a line that is not there',
    );
    assertProperty(read.message.length < 1_000, 'a reason that is no sentence');
    return;
  }
  assertSame(Buffer.from(read.text).toString('hex'), data.toString('hex'), 'the text');
  const again = parse(read.text.replace(/^\ufeff/, ''), { integersAsBigInt: 'asNeeded' });
  assertSame(Object.keys(read.table).sort(), Object.keys(again).sort(), 'the tables');
}
