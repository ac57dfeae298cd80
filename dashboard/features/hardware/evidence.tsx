import type { ReactElement } from 'react';
import type { EvidenceRecord } from '../../../daemon/contract/hardware.ts';
import { Facts } from '../../ui/facts.tsx';
import { factWord, gapsByReason } from './evidence-words.ts';
import css from './hardware.module.css';

/** By which probe each fact was found, and why the rest is not known; closed until somebody asks. */
export function Evidence(props: { evidence: EvidenceRecord | undefined }): ReactElement | null {
  const { evidence } = props;
  if (evidence === undefined) return null;
  return (
    <details className={css.evidence}>
      <summary>Where this comes from</summary>
      <Facts
        rows={[
          ['First seen by', <code key="by">{evidence.found_by}</code>],
          ...Object.entries(evidence.facts).map(
            ([fact, probe]) => [factWord(fact), <code key={fact}>{probe}</code>] as const,
          ),
        ]}
      />
      {gapsByReason(evidence).map(({ reason, facts }) => (
        <p key={reason} className={css.soft}>
          Not known: {facts.join(', ')} ({reason}).
        </p>
      ))}
    </details>
  );
}
