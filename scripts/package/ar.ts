/** One part of a Debian package. */
export interface ArMember {
  name: string;
  size: number;
}

const MAGIC = '!<arch>\n';

/** The 60 bytes before a member of an ar archive; the owner is root, the mode 0644. */
function header({ name, size }: ArMember, mtime: number): Buffer {
  const fields = [
    [name, 16],
    [String(mtime), 12],
    ['0', 6],
    ['0', 6],
    ['100644', 8],
    [String(size), 10],
  ] as const;
  const text = fields.map(([value, width]) => value.padEnd(width)).join('');
  if (text.length !== 58) throw new Error(`${name} does not fit an ar archive`);
  return Buffer.from(`${text}\`\n`, 'latin1');
}

/**
 * Returns the bytes before, between and after the members: `frames[i]` comes before member i, the last one
 * after the last member.
 */
export function arFrames(members: readonly ArMember[], mtime: number): Buffer[] {
  const odd = (index: number) => ((members[index]?.size ?? 0) % 2 === 1 ? '\n' : '');
  const frames = members.map((member, index) =>
    Buffer.concat([Buffer.from(index === 0 ? MAGIC : odd(index - 1), 'latin1'), header(member, mtime)]),
  );
  return [...frames, Buffer.from(odd(members.length - 1), 'latin1')];
}
