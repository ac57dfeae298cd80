import type { ReactTable, RowData, TableFeatures } from '@tanstack/react-table';
import type { ReactElement } from 'react';

/** Renders the header and cells of a table. */
export function DataTable<F extends TableFeatures, T extends RowData>(props: {
  table: ReactTable<F, T>;
  /** For screen readers only. */
  caption: string;
  className: string | undefined;
  /** CSS class of a column by its id. */
  classOf?: (column: string) => string | undefined;
  /** Data attributes of a row, for styling. */
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
