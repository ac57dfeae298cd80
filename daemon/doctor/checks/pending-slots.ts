import type { DoctorInput } from '../doctor-input.ts';
import { type Finding, warn } from '../finding.ts';

/** Slots that run with other settings than those of their changed files. */
export const pendingSlots = ({ gateway }: DoctorInput): Finding[] =>
  gateway.slots.flatMap(({ name, pending = [] }) =>
    pending.length === 0
      ? []
      : [
          warn(
            'slots',
            `Slot ${name} runs without the changes of its file: ${pending.join(', ')}.`,
            `svcctl slots restart ${name}, or wait for its next start.`,
          ),
        ],
  );
