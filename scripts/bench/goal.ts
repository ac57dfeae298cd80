import { ratioTo, roundByRound, type Spread, spreadOf } from './ratios.ts';

/** The values of a figure of one target, round by round. */
export type SeriesLookup = (target: string, figure: string) => readonly number[];

export interface Goal {
  readonly what: string;
  readonly scenario: string;
  measure(of: SeriesLookup): Spread | null;
  /** The target whose failed requests invalidate the figure. */
  readonly target: string;
  readonly goal: number;
  /** The worst acceptable value. */
  readonly floor: number;
  /** Whether a higher value is better. */
  readonly higherIsBetter?: true;
}

export type Row = Pick<Goal, 'what' | 'scenario' | 'goal' | 'floor' | 'higherIsBetter'> & {
  readonly figure: string;
};

/** A goal for the ratio of `target` to `to`. */
export const ratioGoal = ({ figure, ...row }: Row, to = 'nginx', target = 'ours'): Goal => ({
  ...row,
  target,
  measure: (of) => ratioTo(of(target, figure), of(to, figure)),
});

/** A goal for the difference to nginx, in the unit of the figure. */
export const differenceGoal = ({ figure, ...row }: Row): Goal => ({
  ...row,
  target: 'ours',
  measure: (of) => roundByRound(of('ours', figure), of('nginx', figure), (value, base) => value - base),
});

/** A goal for the value itself. */
export const valueGoal = ({ figure, ...row }: Row): Goal => ({
  ...row,
  target: 'ours',
  measure: (of) => spreadOf(of('ours', figure)),
});

/** A goal for the worst round, for guarantees that must hold in every round. */
export const worstRoundGoal = (row: Row): Goal => ({
  ...valueGoal(row),
  measure(of) {
    const spread = spreadOf(of('ours', row.figure));
    return spread && { ...spread, median: row.higherIsBetter ? spread.min : spread.max };
  },
});

/** A goal for the overhead that the gateway reports, as a share of the latency that it adds to that of the model server. */
export const reportedShareGoal = (size: string, row: Omit<Row, 'figure' | 'scenario'>): Goal => ({
  ...row,
  scenario: 'overhead',
  target: 'ours',
  measure(of) {
    const added = of('ours', `${size}_ms`).map(
      (ms, round) => ms - (of('direct', `${size}_ms`)[round] as number),
    );
    return ratioTo(of('ours', `${size}_reported_ms`), added);
  },
});
