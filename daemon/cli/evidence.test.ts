import { expect, test } from 'vitest';
import { evidenceText } from './evidence.ts';

const card = {
  of: '0000:01:00.0',
  found_by: 'pci',
  facts: { name: 'lspci', driver: 'pci', memory_total_bytes: 'nvidia-smi', power_w: 'nvidia-smi' },
  unread: [
    { fact: 'busy_percent', reason: 'nvidia-smi does not tell it' },
    { fact: 'temperature_c', reason: 'nvidia-smi does not tell it\u001b[2J' },
    { fact: 'memory_used_bytes', reason: 'nvidia-smi does not tell it' },
  ],
};

test('facts are next to the probe that reported them, gaps next to their reason', () => {
  expect(evidenceText([card], 80)).toBe(
    [
      'OF            FOUND BY    FACTS',
      '0000:01:00.0  pci         found, driver',
      '0000:01:00.0  lspci       name',
      '0000:01:00.0  nvidia-smi  memory_total_bytes, power_w',
      '? 0000:01:00.0: busy_percent, memory_used_bytes: nvidia-smi does not tell it',
      '? 0000:01:00.0: temperature_c: nvidia-smi does not tell it[2J',
      '',
    ].join('\n'),
  );
});

test('facts are truncated on a narrow terminal, probes and gaps never', () => {
  const [, ...lines] = evidenceText([card], 40).split('\n');
  expect(lines[2]).toBe('0000:01:00.0  nvidia-smi  memory_total_…');
  expect(lines[3]).toContain('nvidia-smi does not tell it');
});
