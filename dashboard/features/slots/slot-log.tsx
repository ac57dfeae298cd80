import type { ReactElement } from 'react';
import { LogView } from '../../ui/log/log-view.tsx';
import { type LogLine, type LogTone, useLog } from '../../ui/log/use-log.ts';
import { Sheet } from '../../ui/sheet.tsx';
import type { SlotDialogProps } from './slot-dialog-props.ts';

const TONE_PATTERNS: readonly (readonly [RegExp, LogTone])[] = [
  [/\b(error|fatal|failed|panic|abort)/i, 'failed'],
  [/\bwarn/i, 'attention'],
  [/\bgateway: /, 'soft'],
];

/** Parses a line of an engine log; the tone marks errors and warnings. */
export function readLine(event: { event: string; data: string }): LogLine | null {
  if (event.event !== 'line') return null;
  const { text } = JSON.parse(event.data) as { text: string };
  return { text, at: null, tone: TONE_PATTERNS.find(([pattern]) => pattern.test(text))?.[1] ?? 'plain' };
}

/** The engine log of a slot, across restarts. */
export function SlotLog({ slot, onClose }: SlotDialogProps): ReactElement {
  const log = useLog({
    id: 'slot.logs',
    options: { params: { name: slot.name }, query: { lines: '500' } },
    read: readLine,
  });
  return (
    <Sheet title={`Log of slot ${slot.name}`} onClose={onClose}>
      <LogView
        log={log}
        what={`Log of slot ${slot.name}`}
        empty="No log lines yet. The log starts when the slot loads."
      />
    </Sheet>
  );
}
