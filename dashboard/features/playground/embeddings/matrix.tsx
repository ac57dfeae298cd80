import type { CSSProperties, ReactElement } from 'react';
import css from './matrix.module.css';
import { closest, similarities, strength } from './similarity.ts';

const plain = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** The similarity matrix: a coloured table with the values as text. */
export function Matrix(props: {
  texts: readonly string[];
  vectors: ReadonlyArray<readonly number[]>;
}): ReactElement {
  const { texts } = props;
  const matrix = similarities(props.vectors);
  const min = Math.min(...matrix.flat());
  const pair = closest(matrix);
  return (
    <>
      {pair === null ? null : (
        <p>
          Closest: <b>{pair.first + 1}</b> and <b>{pair.second + 1}</b>, with {plain.format(pair.value)}.
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={css.box} tabIndex={0} aria-label="Similarity matrix">
        <table className={css.table} style={{ '--texts': texts.length } as CSSProperties}>
          <caption className="hidden-visually">
            Cosine similarity of each pair of texts: 1 means the same direction, 0 means unrelated.
          </caption>
          <thead>
            <tr>
              <td />
              {texts.map((text, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: texts may repeat
                <th key={at} scope="col" title={text}>
                  {at + 1}
                  <span className="hidden-visually">: {text}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {texts.map((text, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: texts may repeat
              <tr key={at}>
                <th scope="row">
                  <span className={css.name} title={text}>
                    <b>{at + 1}</b> {text}
                  </span>
                </th>
                {(matrix[at] ?? []).map((value, other) => (
                  <td
                    // biome-ignore lint/suspicious/noArrayIndexKey: cells never change their order
                    key={other}
                    className={css.cell}
                    style={{ '--strength': strength(value, min) } as CSSProperties}
                  >
                    {plain.format(value)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}
