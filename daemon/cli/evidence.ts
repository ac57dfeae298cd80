import type { EvidenceRecord } from '../contract/hardware.ts';
import { plain } from './output.ts';
import { fitted } from './table.ts';

/** Groups keys by value, in the order in which the values first occur. */
function byValue(pairs: readonly (readonly [key: string, value: string])[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [key, value] of pairs) found.set(value, [...(found.get(value) ?? []), key]);
  return found;
}

/**
 * Prints which probe found which facts (docs/spec/contract.md#hardware): one line for each subject and probe
 * in at most `width` columns, then the facts that no probe found, with the reason.
 */
export function evidenceText(evidence: readonly EvidenceRecord[], width: number): string {
  const rows = evidence.flatMap(({ of, found_by, facts }) => {
    const byProbe = byValue([['found', found_by], ...Object.entries(facts)]);
    return [...byProbe].map(([probe, what]) => [of, probe, what.join(', ')]);
  });
  const gaps = evidence.flatMap(({ of, unread }) => {
    const byReason = byValue(unread.map(({ fact, reason }) => [fact, reason]));
    return [...byReason].map(([reason, what]) => `? ${of}: ${what.join(', ')}: ${reason}\n`);
  });
  return fitted(['OF', 'FOUND BY', 'FACTS'], rows, { width, shrink: [2] }) + gaps.map(plain).join('');
}
