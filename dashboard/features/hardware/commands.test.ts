import { expect, test } from 'vitest';
import { withCommands } from './commands.ts';

test.each([
  [
    'Nothing listens: sudo systemctl enable --now podman.socket.',
    ['sudo systemctl enable --now podman.socket'],
  ],
  [
    'use one of its own user (systemctl --user enable --now podman.socket), or grant its group the right',
    ['systemctl --user enable --now podman.socket'],
  ],
  ['add its user to group docker (sudo usermod -aG docker USER), which', ['sudo usermod -aG docker USER']],
  ['Something listens on the socket but does not answer.', []],
])('%s', (hint, commands) => {
  const segments = withCommands(hint);
  expect(segments.filter(({ command }) => command).map(({ text }) => text)).toEqual(commands);
  expect(segments.map(({ text }) => text).join('')).toBe(hint);
});
