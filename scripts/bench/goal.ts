import { ratioTo, roundByRound, type Spread, spreadOf } from './ratios.ts';

/** The values of a figure of one target, round by round. */
export type SeriesLookup = (target: string, figure: string) => readonly number[];

export interface Goal {
  readonly what: string;
  readonly scenario: string;
  measure(of: SeriesLookup): Spread | null;
  /** Whose failed requests make the figure worthless. */
  readonly target: string;
  readonly goal: number;
  /** Beyond it the work is not done. */
  readonly floor: number;
  /** More is better. */
  readonly least?: true;
}

export type Row = Pick<Goal, 'what' | 'scenario' | 'goal' | 'floor' | 'least'> & {
  readonly figure: string;
};

/** Ours in the measure of `to`, nginx unless it says otherwise. */
export const ratioGoal = ({ figure, ...row }: Row, to = 'nginx', target = 'ours'): Goal => ({
  ...row,
  target,
  measure: (of) => ratioTo(of(target, figure), of(to, figure)),
});

/** Ours beyond nginx, in the unit of the figure. */
export const differenceGoal = ({ figure, ...row }: Row): Goal => ({
  ...row,
  target: 'ours',
  measure: (of) => roundByRound(of('ours', figure), of('nginx', figure), (value, base) => value - base),
});

/** Ours as it is. */
export const valueGoal = ({ figure, ...row }: Row): Goal => ({
  ...row,
  target: 'ours',
  measure: (of) => spreadOf(of('ours', figure)),
});

/** Ours in its worst round: what must hold always. */
export const worstRoundGoal = (row: Row): Goal => ({
  ...valueGoal(row),
  measure(of) {
    const spread = spreadOf(of('ours', row.figure));
    return spread && { ...spread, median: row.least ? spread.min : spread.max };
  },
});

/** What the gateway says that it took, as a share of what a caller has waited longer for it than for the model server. */
export const reportedShareGoal = (size: string, row: Omit<Row, 'figure' | 'scenario'>): Goal => ({
  ...row,
  scenario: 'overhead',
  target: 'ours',
  measure(of) {
    const added = of('ours', `${size}_ms`).map(
      (ms, round) => ms - (of('direct', `${size}_ms`)[round] as number),
    );
    return ratioTo(of('ours', `${size}_told_ms`), added);
  },
});
