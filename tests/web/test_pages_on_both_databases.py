"""Every page on either database, now and as of then; and where a page leads."""

from __future__ import annotations

import pandas as pd
from fastapi.testclient import TestClient

from tests.web.reading import read
from tests.web.test_browser import OF_PROJECT, fill
