"""Who does what to whom, told from either side."""

import pytest

from harness.fidelity.case import Case
from harness.fidelity.checks import names, roles
from harness.fidelity.reading.pair import pair


def turned(reference: str, candidate: str) -> bool:
    both = pair(Case(id="1", reference=reference, candidate=candidate))
    return any(f.severity >= 0.9 for check in (roles.check, names.check) for f in check(both))


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("The nurse gave the doctor the file.", "The nurse was given the file by the doctor."),
        ("The nurse gave the file to the doctor.", "The nurse received the file from the doctor."),
        ("The company sued the supplier.", "The supplier took the company to court."),
        ("The company sued the supplier.", "The company was taken to court by the supplier."),
        ("The tenant filed a lawsuit against the landlord.", "The landlord has sued the tenant."),
        ("The bank lent the firm the money.", "The bank borrowed the money from the firm."),
        ("The dealer sold the car to the student.", "The dealer bought the car from the student."),
        ("The coach taught the player the trick.", "The coach learned the trick from the player."),
        ("The agency employs the nurse.", "The agency works for the nurse."),
        ("公司起诉了供应商。", "供应商把公司告上了法庭。"),
        ("公司起诉了供应商。", "公司被供应商告上了法庭。"),
        ("小区物业把车位租给了公司。", "小区物业从公司租了车位。"),
        ("银行把钱借给了工厂。", "银行向工厂借了钱。"),
        ("老师表扬了班长。", "老师被班长表扬。"),
        ("张伟负责上海的项目。", "上海那个项目由李伟负责。"),
        ("请联系王芳。", "您可以找王静联系。"),
    ],
)
def test_parties_that_change_places_are_told(reference: str, candidate: str) -> None:
    assert turned(reference, candidate)
    assert turned(candidate, reference)


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("The nurse gave the doctor the file.", "The doctor was given the file by the nurse."),
        ("The nurse gave the doctor the file.", "The nurse gave the file to the doctor."),
        ("The nurse gave the doctor the file.", "The doctor received the file from the nurse."),
        ("The company sued the supplier.", "The company took the supplier to court."),
        ("The company sued the supplier.", "The supplier was taken to court by the company."),
        ("The tenant filed a lawsuit against the landlord.", "The landlord was sued by the tenant."),
        ("The bank lent the firm the money.", "The firm borrowed the money from the bank."),
        ("The dealer sold the car to the student.", "The student bought the car from the dealer."),
        ("The coach taught the player the trick.", "The player learned the trick from the coach."),
        ("The agency employs the nurse.", "The nurse works for the agency."),
        ("The company sued the supplier.", "The company and the supplier are in court."),
        ("公司起诉了供应商。", "公司把供应商告上了法庭。"),
        ("公司起诉了供应商。", "供应商被公司告上了法庭。"),
        ("小区物业把车位租给了公司。", "公司从小区物业租了车位。"),
        ("银行把钱借给了工厂。", "工厂向银行借了钱。"),
        ("老师表扬了班长。", "班长被老师表扬。"),
        ("张伟负责上海的项目。", "上海那个项目由张伟负责。"),
        ("请联系王芳。", "您可以找王芳联系。"),
        ("张经理负责这个项目。", "这个项目由项目经理负责。"),
    ],
)
def test_the_other_side_of_the_same_deed_is_left_alone(reference: str, candidate: str) -> None:
    assert not turned(reference, candidate)
    assert not turned(candidate, reference)
