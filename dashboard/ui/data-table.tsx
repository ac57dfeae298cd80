import type { ReactTable, RowData, TableFeatures } from '@tanstack/react-table';
import type { ReactElement } from 'react';

/** Heads and cells of a table, in the order of its columns. */
export function DataTable<F extends TableFeatures, T extends RowData>(props: {
  table: ReactTable<F, T>;
  /** Read out, not shown. */
  caption: string;
  className: string | undefined;
  /** The class of a column's head and cells, by the column's id. */
  classOf?: (column: string) => string | undefined;
  /** What a style tells rows apart by. */
  marksOf?: (row: T) => Readonly<Record<`data-${string}`, string>>;
}): ReactElement {
  const { table, classOf, marksOf } = props;
  return (
    <table className={props.className}>
      <caption className="hidden-visually">{props.caption}</caption>
      <thead>
        {table.getHeaderGroups().map((group) => (
          <tr key={group.id}>
            {group.headers.map((header) => (
              <th key={header.id} scope="col" className={classOf?.(header.id)}>
                <table.FlexRender header={header} />
              </th>
            ))}
          </tr>
        ))}
      </thead>
      <tbody>
        {table.getRowModel().rows.map((row) => (
          <tr key={row.id} {...marksOf?.(row.original)}>
            {row.getAllCells().map((cell) => (
              <td key={cell.id} className={classOf?.(cell.column.id)}>
                <table.FlexRender cell={cell} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
