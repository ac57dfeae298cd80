import type { ReactElement } from 'react';
import type { EvidenceRecord } from '../../../daemon/contract/hardware.ts';
import { Facts } from '../../ui/property-list.tsx';
import { factWord, gapsByReason } from './evidence-words.ts';
import css from './hardware.module.css';

/** The probe behind each fact, and why other facts are unknown. Collapsed by default. */
export function Evidence(props: { evidence: EvidenceRecord | undefined }): ReactElement | null {
  const { evidence } = props;
  if (evidence === undefined) return null;
  return (
    <details className={css.evidence}>
      <summary>Source</summary>
      <Facts
        rows={[
          ['Detected by', <code key="by">{evidence.found_by}</code>],
          ...Object.entries(evidence.facts).map(
            ([fact, probe]) => [factWord(fact), <code key={fact}>{probe}</code>] as const,
          ),
        ]}
      />
      {gapsByReason(evidence).map(({ reason, facts }) => (
        <p key={reason} className={css.soft}>
          Unknown: {facts.join(', ')} ({reason}).
        </p>
      ))}
    </details>
  );
}
