"""An export in a process that may be killed. It imports as little as it can: what a kill is to meet
is the export."""

import candled
from candled.export import Export


def export_days(address, folder, days, format, began=None):
    with candled.open(address) as db:
        if began is not None:
            began.set()
        export = Export(db, folder, market="cn", format=format)
        for day in days:
            export.day(day)
